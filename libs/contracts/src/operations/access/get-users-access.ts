import { Type } from 'typebox';
import { defineOperation } from '../../operation.ts';
import { Caller } from '../../permissions.ts';
import { UserCard } from './list-holders.ts';

/**
 * Returns the current permissions of users, for a service that acts on their behalf later. Who was deleted or is disabled is left
 * out: they may do nothing.
 */
export const GetUsersAccess = defineOperation({
  subject: 'call.gateway.get-users-access',
  operationId: 'accessOfUsers',
  summary: 'Says what users may do now',
  tag: 'Internal',
  permission: 'service',
  idempotent: true,
  body: Type.Object({ ids: Type.Array(Type.Integer(), { maxItems: 1_000 }) }),
  reply: Type.Object({ users: Type.Array(Type.Object({ user: UserCard, caller: Caller })) }),
});
