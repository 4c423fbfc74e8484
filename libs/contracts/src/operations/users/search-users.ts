import { UserSearchResults, SearchUsersQuery } from '../../model/account.ts';
import { defineOperation } from '../../operation.ts';

/** Find users. */
export const SearchUsers = defineOperation({
  subject: 'call.gateway.search-users',
  operationId: 'searchUsers',
  summary: 'Find users',
  description: 'Returns users whose name, username or e-mail begins with the text.',
  tag: 'Users',
  http: { method: 'GET', url: '/api/admin/user-admin/search' },
  permission: 'authenticated',
  query: SearchUsersQuery,
  reply: UserSearchResults,
  errors: ['ValidationError'],
});
