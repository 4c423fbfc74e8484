import { AddProjectAccessBody } from '../../model/access.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectPath } from '../paths.ts';

/** Give users and groups roles in a project. Emits `project-access-added`. */
export const AddProjectAccess = defineOperation({
  subject: 'call.gateway.add-project-access',
  operationId: 'addProjectAccess',
  summary: 'Give users and groups roles in a project',
  description: 'Adds roles to those that users and groups have. Nobody gives what they do not have.',
  tag: 'Projects',
  http: { method: 'POST', url: '/api/admin/projects/:projectId/access' },
  permission: ['UPDATE_PROJECT', 'PROJECT_USER_ACCESS_WRITE'],
  params: ProjectPath,
  body: AddProjectAccessBody,
  errors: ['ValidationError', 'NotFoundError'],
});
