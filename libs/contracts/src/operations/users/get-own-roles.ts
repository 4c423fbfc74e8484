import { UserRoles, UserRolesQuery } from '../../model/access/account.ts';
import { defineOperation } from '../../operation.ts';

/** Lists the roles of the caller. */
export const GetOwnRoles = defineOperation({
  subject: 'call.gateway.get-own-roles',
  operationId: 'getUserRoles',
  summary: 'List the own roles',
  description: 'Returns the roles of the caller, in a project or everywhere.',
  tag: 'Users',
  http: { method: 'GET', url: '/api/admin/user/roles' },
  permission: 'authenticated',
  query: UserRolesQuery,
  reply: UserRoles,
});
