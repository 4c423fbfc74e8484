import { SetProjectAccessBody } from '../../model/access.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectPath } from '../paths.ts';

/** Set who has which role in a project. Emits `project-access-updated`. */
export const SetProjectAccess = defineOperation({
  subject: 'call.gateway.set-project-access',
  operationId: 'setProjectAccess',
  summary: 'Set who has which role in a project',
  description: 'Replaces all roles in the project. Nobody gives what they do not have.',
  tag: 'Projects',
  http: { method: 'PUT', url: '/api/admin/projects/:projectId/access' },
  permission: ['UPDATE_PROJECT', 'PROJECT_USER_ACCESS_WRITE'],
  params: ProjectPath,
  body: SetProjectAccessBody,
  errors: ['ValidationError', 'NotFoundError', 'ConflictError'],
});
