import { RolesInProjectBody } from '../../model/access/project-access.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectGroupPath } from '../paths.ts';

/** Sets the roles of a group in a project. Emits `project-access-group-roles-updated`. */
export const SetProjectGroupRoles = defineOperation({
  subject: 'call.gateway.set-project-group-roles',
  operationId: 'setRolesForGroup',
  summary: 'Set the roles of a group in a project',
  description:
    'Replaces the roles of the group in the project. The caller cannot grant permissions that the caller lacks.',
  tag: 'Projects',
  http: { method: 'PUT', url: '/api/admin/projects/:projectId/groups/:groupId/roles' },
  permission: ['UPDATE_PROJECT', 'PROJECT_USER_ACCESS_WRITE'],
  params: ProjectGroupPath,
  body: RolesInProjectBody,
  errors: ['ValidationError', 'NotFoundError', 'ConflictError'],
});
