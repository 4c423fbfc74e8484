import { type Static, Type } from 'typebox';
import { notBlank } from '../text-schemas.ts';
import { User } from './account.ts';
import { maxId, Nullable, Timestamp } from '../schema.ts';

/** A group of users, who share its roles. */
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
export type Groups = Static<typeof Groups>;

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
