import { UserPermissions, UserPermissionsQuery } from '../../model/access/account.ts';
import { defineOperation } from '../../operation.ts';
import { AccountPath } from '../paths.ts';

/** Returns the permissions of a user. */
export const GetUserPermissions = defineOperation({
  subject: 'call.gateway.get-user-permissions',
  operationId: 'getUserPermissions',
  summary: 'Get the permissions of a user',
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
