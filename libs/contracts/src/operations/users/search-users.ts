import { UserSearchResults, SearchUsersQuery } from '../../model/access/account.ts';
import { defineOperation } from '../../operation.ts';

/** Finds users. */
export const SearchUsers = defineOperation({
  subject: 'call.gateway.search-users',
  operationId: 'searchUsers',
  summary: 'Search users',
  description: 'Returns users whose name, username or e-mail begins with the text.',
  tag: 'Users',
  http: { method: 'GET', url: '/api/admin/user-admin/search' },
  permission: 'authenticated',
  query: SearchUsersQuery,
  reply: UserSearchResults,
  errors: ['ValidationError'],
});
