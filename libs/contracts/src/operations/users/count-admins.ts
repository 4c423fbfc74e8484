import { AdminCount } from '../../model/access/account.ts';
import { defineOperation } from '../../operation.ts';

/** Counts the accounts with the root role Admin. */
export const CountAdmins = defineOperation({
  subject: 'call.gateway.count-admins',
  operationId: 'getAdminCount',
  summary: 'Count the administrators',
  description: 'Returns the number of users and service accounts whose own root role is Admin.',
  tag: 'Users',
  http: { method: 'GET', url: '/api/admin/user-admin/admin-count' },
  permission: 'ADMIN',
  reply: AdminCount,
});
