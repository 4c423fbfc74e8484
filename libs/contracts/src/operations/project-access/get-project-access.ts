import { ProjectAccess } from '../../model/access/project-access.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectPath } from '../paths.ts';

/** Lists the users and groups with roles in a project. */
export const GetProjectAccess = defineOperation({
  subject: 'call.gateway.get-project-access',
  operationId: 'getProjectAccess',
  summary: 'Get the role assignments of a project',
  description: 'Returns the users and groups with a role in the project, and the roles that can be assigned.',
  tag: 'Projects',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/access' },
  permission: ['UPDATE_PROJECT', 'PROJECT_USER_ACCESS_READ', 'PROJECT_USER_ACCESS_WRITE'],
  params: ProjectPath,
  reply: ProjectAccess,
  errors: ['NotFoundError'],
});
