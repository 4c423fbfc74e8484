import { Type } from 'typebox';
import { defineOperation } from '../../operation.ts';
import { Caller } from '../../permissions.ts';
import { UserCard } from '../../model/access/user-reference.ts';

/**
 * Returns the current permissions of users, for a service that acts on their behalf later. Deleted and disabled
 * users have no permissions and are left out.
 */
export const GetPermissionsOfUsers = defineOperation({
  subject: 'call.gateway.get-permissions-of-users',
  operationId: 'getPermissionsOfUsers',
  summary: 'List the current rights of users',
  tag: 'Internal',
  permission: 'service',
  idempotent: true,
  body: Type.Object({ ids: Type.Array(Type.Integer(), { maxItems: 1_000 }) }),
  reply: Type.Object({ users: Type.Array(Type.Object({ user: UserCard, caller: Caller })) }),
});
