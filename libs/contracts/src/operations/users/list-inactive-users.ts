import { InactiveUsers } from '../../model/access/account.ts';
import { defineOperation } from '../../operation.ts';

/** Lists the users who have not used Bunting for 180 days. */
export const ListInactiveUsers = defineOperation({
  subject: 'call.gateway.list-inactive-users',
  operationId: 'getInactiveUsers',
  summary: 'List the inactive users',
  description: 'Returns the users who were created, and last used a key or a session, more than 180 days ago.',
  tag: 'Users',
  http: { method: 'GET', url: '/api/admin/user-admin/inactive' },
  permission: 'ADMIN',
  reply: InactiveUsers,
});
