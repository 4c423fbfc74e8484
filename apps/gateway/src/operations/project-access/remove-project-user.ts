import { implement } from '@bunting/bus';
import { RemoveProjectUser } from '@bunting/contracts';
import { setHolderRoles } from './set-holder-roles.ts';
import type { GatewayContext } from '../context.ts';

export const removeProjectUserEndpoint = ({ work, places }: GatewayContext) =>
  implement(RemoveProjectUser, async (request) => {
    const { caller, params } = request;
    const { projectId: project, userId: id } = params;
    await places.requireProject(request, project);
    await places.requireHeardOf([project]);
    return work(request, async (tx) => {
      await tx.requireStanding([project]);
      const type = 'project-access-user-roles-deleted';
      await setHolderRoles(tx, { caller, project, holder: 'user', id, roles: [], type });
      return null;
    });
  });
