import { RolesBody } from '../../model/access.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectUserPath } from '../paths.ts';

/** Set the roles of a user in a project. Emits `project-access-user-roles-updated`. */
export const SetProjectUserRoles = defineOperation({
  subject: 'call.gateway.set-project-user-roles',
  operationId: 'setRolesForUser',
  summary: 'Set the roles of a user in a project',
  description: 'Replaces the roles of the user in the project. Nobody gives what they do not have.',
  tag: 'Projects',
  http: { method: 'PUT', url: '/api/admin/projects/:projectId/users/:userId/roles' },
  permission: ['UPDATE_PROJECT', 'PROJECT_USER_ACCESS_WRITE'],
  params: ProjectUserPath,
  body: RolesBody,
  errors: ['ValidationError', 'NotFoundError', 'ConflictError'],
});
