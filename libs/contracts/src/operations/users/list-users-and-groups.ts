import { UsersAndGroups } from '../../model/access/account.ts';
import { defineOperation } from '../../operation.ts';

/** Lists the users and groups that can get roles. */
export const ListUsersAndGroups = defineOperation({
  subject: 'call.gateway.list-users-and-groups',
  operationId: 'getBaseUsersAndGroups',
  summary: 'List the users and groups that can get access',
  description: 'Returns the names of users, service accounts and groups, for callers who assign roles in projects.',
  tag: 'Users',
  http: { method: 'GET', url: '/api/admin/user-admin/access' },
  permission: ['UPDATE_PROJECT', 'PROJECT_USER_ACCESS_READ', 'PROJECT_USER_ACCESS_WRITE'],
  reply: UsersAndGroups,
});
