import { UsersAndGroups } from '../../model/account.ts';
import { defineOperation } from '../../operation.ts';

/** List the users and groups to whom access can be given. */
export const ListUsersAndGroups = defineOperation({
  subject: 'call.gateway.list-users-and-groups',
  operationId: 'getBaseUsersAndGroups',
  summary: 'List the users and groups to whom access can be given',
  description: 'Returns the names of users, service accounts and groups, for callers who give access to projects.',
  tag: 'Users',
  http: { method: 'GET', url: '/api/admin/user-admin/access' },
  permission: ['UPDATE_PROJECT', 'PROJECT_USER_ACCESS_READ', 'PROJECT_USER_ACCESS_WRITE'],
  reply: UsersAndGroups,
});
