import { implement } from '@bunting/bus';
import { RemoveProjectUser } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';
import { replaceAssigneeRoles } from './change-project-roles.ts';
import { withExistingProject } from './with-existing-project.ts';

export const removeProjectUserEndpoint = (context: GatewayContext) =>
  implement(RemoveProjectUser, (request) => {
    const { projectId, userId } = request.params;
    return withExistingProject(context, request, projectId, (tx) => {
      const type = 'project-access-user-roles-deleted';
      return replaceAssigneeRoles(tx, request.caller, projectId, { assignee: 'user', id: userId, roles: [], type });
    });
  });
