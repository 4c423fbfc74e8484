import { RoleHolders } from '../../model/access/role.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectPath } from '../paths.ts';

/** Lists the users with permissions in a project, and the roles and groups that grant them. */
export const ListProjectRoleHolders = defineOperation({
  subject: 'call.gateway.list-project-role-holders',
  operationId: 'getProjectRoleHolders',
  summary: 'List the role holders of a project and their permissions',
  description:
    'Returns the active users with the roles that apply in the project, root roles and those of groups included, and the permissions of these roles.',
  tag: 'Projects',
  isBuntingExtension: true,
  http: { method: 'GET', url: '/api/admin/projects/:projectId/access/holders' },
  permission: ['UPDATE_PROJECT', 'PROJECT_USER_ACCESS_READ', 'PROJECT_USER_ACCESS_WRITE'],
  params: ProjectPath,
  reply: RoleHolders,
  errors: ['NotFoundError'],
});
