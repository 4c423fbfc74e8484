import { Type } from 'typebox';
import { UserCard } from '../../model/access/user-reference.ts';
import { defineOperation } from '../../operation.ts';
import { permissions } from '../../permissions.ts';

/** Lists the active users with one of the permissions in a project and environment, by name and then by id. */
export const ListPermissionHolders = defineOperation({
  subject: 'call.gateway.list-permission-holders',
  operationId: 'listPermissionHolders',
  summary: 'List the active users who hold one of the permissions in an environment',
  tag: 'Internal',
  permission: 'service',
  idempotent: true,
  body: Type.Object({
    project: Type.String(),
    environment: Type.Optional(Type.String()),
    permissions: Type.Array(Type.Enum([...permissions]), { minItems: 1 }),
  }),
  reply: Type.Object({ users: Type.Array(UserCard) }),
});
