import { implement } from '@bunting/bus';
import { notFound, SetProjectUserRoles } from '@bunting/contracts';
import { noSuchUser } from '../users/change-account.ts';
import { setHolderRoles } from './set-holder-roles.ts';
import type { GatewayContext } from '../context.ts';

export const setProjectUserRolesEndpoint = ({ work, places }: GatewayContext) =>
  implement(SetProjectUserRoles, async (request) => {
    const { caller, params, body } = request;
    const { projectId: project, userId: id } = params;
    await places.requireProject(request, project);
    await places.requireHeardOf([project]);
    return work(request, async (tx) => {
      await tx.requireStanding([project]);
      if ((await tx.people.existing([id])).length === 0) throw notFound(noSuchUser);
      const type = 'project-access-user-roles-updated';
      await setHolderRoles(tx, { caller, project, holder: 'user', id, roles: body.roles, type });
      return null;
    });
  });
