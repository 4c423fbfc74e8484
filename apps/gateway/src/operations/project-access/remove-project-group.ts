import { implement } from '@bunting/bus';
import { RemoveProjectGroup } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';
import { replaceAssigneeRoles } from './change-project-roles.ts';
import { withExistingProject } from './with-existing-project.ts';

export const removeProjectGroupEndpoint = (context: GatewayContext) =>
  implement(RemoveProjectGroup, (request) => {
    const { projectId, groupId } = request.params;
    return withExistingProject(context, request, projectId, (tx) => {
      const type = 'project-access-group-roles-deleted';
      return replaceAssigneeRoles(tx, request.caller, projectId, { assignee: 'group', id: groupId, roles: [], type });
    });
  });
