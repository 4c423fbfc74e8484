import { defineOperation } from '../../operation.ts';
import { ProjectGroupPath } from '../paths.ts';

/** Removes the roles of a group in a project. Emits `project-access-group-roles-deleted`. */
export const RemoveProjectGroup = defineOperation({
  subject: 'call.gateway.remove-project-group',
  operationId: 'removeGroupAccess',
  summary: 'Remove all roles of a group in a project',
  description: 'Removes every role that the group has in the project.',
  tag: 'Projects',
  http: { method: 'DELETE', url: '/api/admin/projects/:projectId/groups/:groupId/roles', anyContentType: true },
  permission: ['UPDATE_PROJECT', 'PROJECT_USER_ACCESS_WRITE'],
  params: ProjectGroupPath,
  errors: ['NotFoundError', 'ConflictError'],
});
