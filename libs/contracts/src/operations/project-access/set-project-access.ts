import { SetProjectAccessBody } from '../../model/access/project-access.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectPath } from '../paths.ts';

/** Replaces the users and groups with roles in a project. Emits `project-access-updated`. */
export const SetProjectAccess = defineOperation({
  subject: 'call.gateway.set-project-access',
  operationId: 'setProjectAccess',
  summary: 'Set the role assignments of a project',
  description: 'Replaces all roles in the project. The caller cannot grant permissions that the caller lacks.',
  tag: 'Projects',
  http: { method: 'PUT', url: '/api/admin/projects/:projectId/access' },
  permission: ['UPDATE_PROJECT', 'PROJECT_USER_ACCESS_WRITE'],
  params: ProjectPath,
  body: SetProjectAccessBody,
  errors: ['ValidationError', 'NotFoundError', 'ConflictError'],
});
