import { AddProjectAccessBody } from '../../model/access/project-access.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectPath } from '../paths.ts';

/** Adds roles of users and groups in a project. Emits `project-access-added`. */
export const AddProjectAccess = defineOperation({
  subject: 'call.gateway.add-project-access',
  operationId: 'addProjectAccess',
  summary: 'Add roles of users and groups in a project',
  description:
    'Adds roles to those that users and groups have. The caller cannot grant permissions that the caller lacks.',
  tag: 'Projects',
  http: { method: 'POST', url: '/api/admin/projects/:projectId/access' },
  permission: ['UPDATE_PROJECT', 'PROJECT_USER_ACCESS_WRITE'],
  params: ProjectPath,
  body: AddProjectAccessBody,
  errors: ['ValidationError', 'NotFoundError'],
});
