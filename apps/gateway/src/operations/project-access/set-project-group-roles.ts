import { implement } from '@bunting/bus';
import { notFound, SetProjectGroupRoles } from '@bunting/contracts';
import { noSuchGroup } from '../groups/no-such-group.ts';
import { setHolderRoles } from './set-holder-roles.ts';
import type { GatewayContext } from '../context.ts';

export const setProjectGroupRolesEndpoint = ({ work, places }: GatewayContext) =>
  implement(SetProjectGroupRoles, async (asked) => {
    const { caller, params, body } = asked;
    const { projectId: project, groupId: id } = params;
    await places.requireProject(asked, project);
    await places.requireHeardOf([project]);
    return work(asked, async (tx) => {
      await tx.requireStanding([project]);
      if ((await tx.groups.find(id)) === undefined) throw notFound(noSuchGroup);
      const type = 'project-access-group-roles-updated';
      await setHolderRoles(tx, { caller, project, holder: 'group', id, roles: body.roles, type });
      return null;
    });
  });
