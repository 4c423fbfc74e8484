import { AvailablePermissions } from '../../model/access.ts';
import { defineOperation } from '../../operation.ts';

/** List what roles can give. */
export const ListPermissions = defineOperation({
  subject: 'call.gateway.list-permissions',
  operationId: 'getPermissions',
  summary: 'List what roles can give',
  description: 'Returns the permission catalogue with the environments that there are.',
  tag: 'Roles',
  http: { method: 'GET', url: '/api/admin/permissions' },
  permission: 'authenticated',
  reply: AvailablePermissions,
});
