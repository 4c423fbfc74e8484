import { AdminCount } from '../../model/account.ts';
import { defineOperation } from '../../operation.ts';

/** Count the accounts with the root role Admin. */
export const CountAdmins = defineOperation({
  subject: 'call.gateway.count-admins',
  operationId: 'getAdminCount',
  summary: 'Count the administrators',
  description: 'Returns how many users and service accounts have the root role Admin themselves.',
  tag: 'Users',
  http: { method: 'GET', url: '/api/admin/user-admin/admin-count' },
  permission: 'ADMIN',
  reply: AdminCount,
});
