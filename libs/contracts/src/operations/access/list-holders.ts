import { Type } from 'typebox';
import { defineOperation } from '../../operation.ts';
import { permissions } from '../../permissions.ts';

/** A user as other services show people: never more than this. */
export const UserCard = Type.Object({
  id: Type.Integer(),
  name: Type.Union([Type.String(), Type.Null()]),
  username: Type.Union([Type.String(), Type.Null()]),
  email: Type.Union([Type.String(), Type.Null()]),
  imageUrl: Type.Union([Type.String(), Type.Null()]),
});

/** Says which active users hold one of the permissions in a project and environment, by name and then by id. */
export const ListHolders = defineOperation({
  subject: 'call.gateway.list-holders',
  operationId: 'holdersOfPermission',
  summary: 'Says which active users hold one of the permissions there',
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
