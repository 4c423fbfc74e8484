import { Users } from '../../model/access/account.ts';
import { PageQuery } from '../../model/page-parameters.ts';
import { defineOperation } from '../../operation.ts';

/** Lists the users. */
export const ListUsers = defineOperation({
  subject: 'call.gateway.list-users',
  operationId: 'getUsers',
  summary: 'List the users',
  description: 'Returns the users who were not deleted, and the roles that they can have everywhere.',
  tag: 'Users',
  http: { method: 'GET', url: '/api/admin/user-admin' },
  permission: 'ADMIN',
  query: PageQuery('users'),
  reply: Users,
});
