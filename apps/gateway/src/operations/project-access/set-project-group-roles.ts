import { implement } from '@bunting/bus';
import { SetProjectGroupRoles } from '@bunting/contracts';
import { groupNotFound } from '../../domain/refusals.ts';
import { setHolderRoles } from './set-holder-roles.ts';
import type { GatewayContext } from '../context.ts';

export const setProjectGroupRolesEndpoint = ({ transaction, catalogue }: GatewayContext) =>
  implement(SetProjectGroupRoles, async (request) => {
    const { caller, params, body } = request;
    const { projectId: project, groupId: id } = params;
    await catalogue.requireProject(request, project);
    await catalogue.awaitKnown([project]);
    return transaction(request, async (tx) => {
      await tx.lockExistingProjects([project]);
      if ((await tx.groups.findForUpdate(id)) === undefined) throw groupNotFound();
      const type = 'project-access-group-roles-updated';
      await setHolderRoles(tx, { caller, project, holder: 'group', id, roles: body.roles, type });
      return null;
    });
  });
