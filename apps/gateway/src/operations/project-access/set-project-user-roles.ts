import { implement } from '@bunting/bus';
import { SetProjectUserRoles } from '@bunting/contracts';
import { userNotFound } from '../../domain/refusals.ts';
import { setHolderRoles } from './set-holder-roles.ts';
import type { GatewayContext } from '../context.ts';

export const setProjectUserRolesEndpoint = ({ transaction, catalogue }: GatewayContext) =>
  implement(SetProjectUserRoles, async (request) => {
    const { caller, params, body } = request;
    const { projectId: project, userId: id } = params;
    await catalogue.requireProject(request, project);
    await catalogue.awaitKnown([project]);
    return transaction(request, async (tx) => {
      await tx.lockExistingProjects([project]);
      if ((await tx.users.findExisting([id])).length === 0) throw userNotFound();
      const type = 'project-access-user-roles-updated';
      await setHolderRoles(tx, { caller, project, holder: 'user', id, roles: body.roles, type });
      return null;
    });
  });
