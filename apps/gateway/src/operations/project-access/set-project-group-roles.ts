import { implement } from '@bunting/bus';
import { notFound, SetProjectGroupRoles } from '@bunting/contracts';
import { noSuchGroup } from '../groups/no-such-group.ts';
import { setHolderRoles } from './set-holder-roles.ts';
import type { GatewayContext } from '../context.ts';

export const setProjectGroupRolesEndpoint = ({ work, places }: GatewayContext) =>
  implement(SetProjectGroupRoles, async (request) => {
    const { caller, params, body } = request;
    const { projectId: project, groupId: id } = params;
    await places.requireProject(request, project);
    await places.requireHeardOf([project]);
    return work(request, async (tx) => {
      await tx.requireStanding([project]);
      if ((await tx.groups.find(id)) === undefined) throw notFound(noSuchGroup);
      const type = 'project-access-group-roles-updated';
      await setHolderRoles(tx, { caller, project, holder: 'group', id, roles: body.roles, type });
      return null;
    });
  });
