import { implement } from '@bunting/bus';
import { RemoveProjectGroup } from '@bunting/contracts';
import { setHolderRoles } from './set-holder-roles.ts';
import type { GatewayContext } from '../context.ts';

export const removeProjectGroupEndpoint = ({ work, places }: GatewayContext) =>
  implement(RemoveProjectGroup, async (asked) => {
    const { caller, params } = asked;
    const { projectId: project, groupId: id } = params;
    await places.requireProject(asked, project);
    await places.requireHeardOf([project]);
    return work(asked, async (tx) => {
      await tx.requireStanding([project]);
      const type = 'project-access-group-roles-deleted';
      await setHolderRoles(tx, { caller, project, holder: 'group', id, roles: [], type });
      return null;
    });
  });
