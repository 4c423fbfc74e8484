import { type Static, Type } from 'typebox';
import { operationsOf } from '../operation.ts';
import { GroupPath } from '../paths.ts';
import { maxId, notBlank, Nullable, Timestamp } from '../schemas.ts';
import { User } from './account.ts';

const defineOperation = operationsOf('Groups');

export const Group = Type.Object(
  {
    id: Type.Integer({ description: 'the id of the group' }),
    name: Type.String({ description: 'the name of the group' }),
    description: Nullable(Type.String(), { description: 'the description of the group' }),
    mappingsSSO: Type.Array(Type.String(), { description: 'groups of an identity provider that map to this one' }),
    rootRole: Nullable(Type.Integer(), { description: 'the root role that its members have through it' }),
    createdBy: Type.String({ description: 'the creator' }),
    createdAt: Timestamp('when it was created'),
    users: Type.Array(
      Type.Object({
        user: User,
        joinedAt: Timestamp('when the user became a member'),
        createdBy: Type.String({ description: 'the user who added the member' }),
      }),
      { description: 'its members' },
    ),
    projects: Type.Array(Type.String(), { description: 'the projects that it has a role in' }),
    userCount: Type.Integer({ description: 'the number of its members' }),
  },
  { title: 'groupSchema', description: 'A group of users who share roles.' },
);
export type Group = Static<typeof Group>;

export const Groups = Type.Object(
  { groups: Type.Array(Group, { description: 'the groups, by their names' }) },
  { title: 'groupsSchema', description: 'The groups.' },
);

export const GroupBody = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: 255,
      ...notBlank,
      description: 'the name of the group',
    }),
    description: Type.Optional(
      Nullable(Type.String({ maxLength: 1_000 }), { description: 'the description of the group' }),
    ),
    mappingsSSO: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 255 }), {
        maxItems: 1_000,
        description: 'groups of an identity provider that map to this one; default: none',
      }),
    ),
    rootRole: Type.Optional(
      Nullable(Type.Integer(), { description: 'the root role that its members have through it' }),
    ),
    users: Type.Optional(
      Type.Array(Type.Object({ user: Type.Object({ id: Type.Integer({ minimum: 1, maximum: maxId }) }) }), {
        maxItems: 1_000,
        description: 'its members',
      }),
    ),
  },
  { title: 'createGroupSchema', description: 'The properties of a new group.' },
);
export type GroupBody = Static<typeof GroupBody>;

/** Emits `group-created`. */
export const CreateGroup = defineOperation({
  subject: 'call.gateway.create-group',
  summary: 'Create a group',
  description: 'Adds a group with its members.',
  http: {
    method: 'POST',
    url: '/api/admin/groups',
    status: 201,
    location: (_request, created: Group) => `groups/${created.id}`,
  },
  permission: 'ADMIN',
  body: GroupBody,
  reply: Group,
  errors: ['ValidationError', 'NameExistsError'],
});

/** Emits `group-deleted`. */
export const DeleteGroup = defineOperation({
  subject: 'call.gateway.delete-group',
  summary: 'Delete a group',
  description: 'Deletes a group. Its members lose the roles that they had through it.',
  http: { method: 'DELETE', url: '/api/admin/groups/:id', anyContentType: true },
  permission: 'ADMIN',
  params: GroupPath,
  errors: ['NotFoundError', 'InvalidOperationError'],
});

export const GetGroup = defineOperation({
  subject: 'call.gateway.get-group',
  summary: 'Get a group',
  description: 'Returns a group with its members.',
  http: { method: 'GET', url: '/api/admin/groups/:id' },
  permission: 'ADMIN',
  params: GroupPath,
  reply: Group,
});

export const ListGroups = defineOperation({
  subject: 'call.gateway.list-groups',
  operationId: 'getGroups',
  summary: 'List the groups',
  description: 'Returns the groups with their members.',
  http: { method: 'GET', url: '/api/admin/groups' },
  permission: 'ADMIN',
  reply: Groups,
});

/** Emits `group-updated`. */
export const UpdateGroup = defineOperation({
  subject: 'call.gateway.update-group',
  summary: 'Update a group',
  description: 'Updates a group and its members. Permissions of added and removed members change immediately.',
  http: { method: 'PUT', url: '/api/admin/groups/:id' },
  permission: 'ADMIN',
  params: GroupPath,
  body: GroupBody,
  reply: Group,
  errors: ['ValidationError', 'NotFoundError', 'InvalidOperationError', 'NameExistsError'],
});
