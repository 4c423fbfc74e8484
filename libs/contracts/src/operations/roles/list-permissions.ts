import { AvailablePermissions } from '../../model/access/role.ts';
import { defineOperation } from '../../operation.ts';

/** Lists the permissions that roles can grant. */
export const ListPermissions = defineOperation({
  subject: 'call.gateway.list-permissions',
  operationId: 'getPermissions',
  summary: 'List the permissions',
  description: 'Returns the permission catalogue with the existing environments.',
  tag: 'Roles',
  http: { method: 'GET', url: '/api/admin/permissions' },
  permission: 'authenticated',
  reply: AvailablePermissions,
});
