import { Roles } from '../../model/access.ts';
import { defineOperation } from '../../operation.ts';

/** List the roles. */
export const ListRoles = defineOperation({
  subject: 'call.gateway.list-roles',
  operationId: 'getRoles',
  summary: 'List the roles',
  description: 'Returns the predefined roles and those that were made here.',
  tag: 'Roles',
  http: { method: 'GET', url: '/api/admin/roles' },
  permission: ['READ_ROLE', 'UPDATE_PROJECT', 'PROJECT_USER_ACCESS_READ', 'PROJECT_USER_ACCESS_WRITE'],
  reply: Roles,
});
