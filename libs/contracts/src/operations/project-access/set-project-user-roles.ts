import { RolesInProjectBody } from '../../model/access/project-access.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectUserPath } from '../paths.ts';

/** Sets the roles of a user in a project. Emits `project-access-user-roles-updated`. */
export const SetProjectUserRoles = defineOperation({
  subject: 'call.gateway.set-project-user-roles',
  operationId: 'setRolesForUser',
  summary: 'Set the roles of a user in a project',
  description:
    'Replaces the roles of the user in the project. The caller cannot grant permissions that the caller lacks.',
  tag: 'Projects',
  http: { method: 'PUT', url: '/api/admin/projects/:projectId/users/:userId/roles' },
  permission: ['UPDATE_PROJECT', 'PROJECT_USER_ACCESS_WRITE'],
  params: ProjectUserPath,
  body: RolesInProjectBody,
  errors: ['ValidationError', 'NotFoundError', 'ConflictError'],
});
