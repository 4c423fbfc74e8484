import { defineOperation } from '../../operation.ts';
import { ProjectUserPath } from '../paths.ts';

/** Removes the roles of a user in a project. Emits `project-access-user-roles-deleted`. */
export const RemoveProjectUser = defineOperation({
  subject: 'call.gateway.remove-project-user',
  operationId: 'removeUserAccess',
  summary: 'Remove all roles of a user in a project',
  description: 'Removes every role that the user has in the project.',
  tag: 'Projects',
  http: { method: 'DELETE', url: '/api/admin/projects/:projectId/users/:userId/roles', anyContentType: true },
  permission: ['UPDATE_PROJECT', 'PROJECT_USER_ACCESS_WRITE'],
  params: ProjectUserPath,
  errors: ['NotFoundError', 'ConflictError'],
});
