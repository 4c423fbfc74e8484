import { UserPermissions, UserPermissionsQuery } from '../../model/account.ts';
import { defineOperation } from '../../operation.ts';
import { AccountPath } from '../paths.ts';

/** Read what a user may do, permission by permission. */
export const GetUserPermissions = defineOperation({
  subject: 'call.gateway.get-user-permissions',
  operationId: 'getUserPermissions',
  summary: 'Read what a user may do',
  description:
    'Returns every permission with whether the user holds it: everywhere, or in the project and environment of the query.',
  tag: 'Users',
  http: { method: 'GET', url: '/api/admin/user-admin/:id/permissions' },
  permission: 'ADMIN',
  params: AccountPath,
  query: UserPermissionsQuery,
  reply: UserPermissions,
  errors: ['NotFoundError'],
});
