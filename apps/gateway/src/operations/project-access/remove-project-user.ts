import { implement } from '@bunting/bus';
import { RemoveProjectUser } from '@bunting/contracts';
import { setAssigneeRoles } from './set-assignee-roles.ts';
import type { GatewayContext } from '../context.ts';
import { withExistingProject } from './with-existing-project.ts';

export const removeProjectUserEndpoint = (context: GatewayContext) =>
  implement(RemoveProjectUser, (request) => {
    const { caller, params } = request;
    const { projectId, userId } = params;
    return withExistingProject(context, request, projectId, async (tx) => {
      const type = 'project-access-user-roles-deleted';
      await setAssigneeRoles(tx, caller, { project: projectId, assignee: 'user', id: userId, roles: [], type });
    });
  });
