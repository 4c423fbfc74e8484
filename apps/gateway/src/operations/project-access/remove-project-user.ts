import { implement } from '@bunting/bus';
import { RemoveProjectUser } from '@bunting/contracts';
import { setHolderRoles } from './set-holder-roles.ts';
import type { GatewayContext } from '../context.ts';
import { withExistingProject } from './with-existing-project.ts';

export const removeProjectUserEndpoint = (context: GatewayContext) =>
  implement(RemoveProjectUser, (request) => {
    const { caller, params } = request;
    const { projectId, userId } = params;
    return withExistingProject(context, request, projectId, async (tx) => {
      const type = 'project-access-user-roles-deleted';
      await setHolderRoles(tx, { caller, project: projectId, holder: 'user', id: userId, roles: [], type });
    });
  });
