import { UserRoles, UserRolesQuery } from '../../model/account.ts';
import { defineOperation } from '../../operation.ts';

/** List the own roles. */
export const GetUserRoles = defineOperation({
  subject: 'call.gateway.get-user-roles',
  operationId: 'getUserRoles',
  summary: 'List the own roles',
  description: 'Returns the roles of the caller, in a project or everywhere.',
  tag: 'Users',
  http: { method: 'GET', url: '/api/admin/user/roles' },
  permission: 'authenticated',
  query: UserRolesQuery,
  reply: UserRoles,
});
