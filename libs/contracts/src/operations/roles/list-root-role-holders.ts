import { RoleHolders } from '../../model/access/role.ts';
import { defineOperation } from '../../operation.ts';

/** Lists the users with permissions in all projects, and the roles and groups that grant them. */
export const ListRootRoleHolders = defineOperation({
  subject: 'call.gateway.list-root-role-holders',
  operationId: 'getRoleHolders',
  summary: 'List the holders of root roles and their permissions',
  description:
    'Returns the active users with their root roles, their own and those of their groups, and the permissions of these roles.',
  tag: 'Roles',
  isBuntingExtension: true,
  http: { method: 'GET', url: '/api/admin/access/holders' },
  permission: 'ADMIN',
  reply: RoleHolders,
});
