import { Roles } from '../../model/access/role.ts';
import { defineOperation } from '../../operation.ts';

/** Lists the roles. */
export const ListRoles = defineOperation({
  subject: 'call.gateway.list-roles',
  operationId: 'getRoles',
  summary: 'List the roles',
  description: 'Returns the predefined roles and the custom ones.',
  tag: 'Roles',
  http: { method: 'GET', url: '/api/admin/roles' },
  permission: ['READ_ROLE', 'UPDATE_PROJECT', 'PROJECT_USER_ACCESS_READ', 'PROJECT_USER_ACCESS_WRITE'],
  reply: Roles,
});
