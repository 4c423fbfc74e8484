import { Type, type Static } from 'typebox';
import { RootRole, User } from './account.ts';
import { Grant } from '../permissions.ts';
import { AnyObject, Constant } from '../schemas.ts';
import { operationsOf } from '../operation.ts';

const defineOperation = operationsOf('Users');

const { name, username, email, imageUrl, loginAttempts, scimId, seenAt, createdAt } = User.properties;

export const Me = Type.Object(
  {
    user: Type.Object({
      id: Type.Integer({ description: 'the id of the user; -42 for an admin token' }),
      isAPI: Type.Boolean({ description: 'whether the caller is an API token, not a user' }),
      name,
      username,
      email,
      imageUrl,
      accountType: Type.Optional(Type.String({ description: 'a person or a machine' })),
      seenAt: Type.Optional(seenAt),
      createdAt: Type.Optional(createdAt),
      loginAttempts: Type.Optional(loginAttempts),
      scimId: Type.Optional(scimId),
    }),
    permissions: Type.Array(Grant, {
      description: 'the permissions of the user, with their scopes; without a scope: everywhere',
    }),
    feedback: Type.Array(AnyObject(), { description: 'always empty' }),
    splash: AnyObject({ description: 'always empty' }),
  },
  { title: 'meSchema', description: 'The caller and their permissions.' },
);
export type Me = Static<typeof Me>;

export const Profile = Type.Object(
  {
    rootRole: RootRole,
    projects: Type.Array(Type.String(), {
      description: 'the ids of the projects that the user has a role in; of every project for an administrator',
    }),
    features: Type.Array(AnyObject(), { description: 'always empty' }),
    subscriptions: Type.Array(Type.String(), { description: 'always empty' }),
  },
  { title: 'profileSchema', description: 'The root role and the projects of the caller.' },
);
export type Profile = Static<typeof Profile>;

export const UserRoles = Type.Object(
  {
    version: Constant(1, 'the version of this format'),
    roles: Type.Array(
      Type.Object({
        ...RootRole.properties,
        project: Type.Optional(Type.String({ description: 'the project of the query' })),
      }),
      { description: 'the roles of the caller, in the project or everywhere' },
    ),
  },
  { title: 'userRolesSchema', description: 'The roles of the caller.' },
);
export type UserRoles = Static<typeof UserRoles>;

export const UserRolesQuery = Type.Object({
  projectId: Type.Optional(Type.String({ minLength: 1, description: 'the project; default: everywhere' })),
});

export const GetOwnRoles = defineOperation({
  subject: 'call.gateway.get-own-roles',
  operationId: 'getUserRoles',
  summary: 'List the own roles',
  description: 'Returns the roles of the caller, in a project or everywhere.',
  http: { method: 'GET', url: '/api/admin/user/roles' },
  permission: 'authenticated',
  query: UserRolesQuery,
  reply: UserRoles,
});

export const GetMe = defineOperation({
  subject: 'call.gateway.get-me',
  summary: 'Get the caller',
  description: 'Returns the caller and their permissions.',
  http: { method: 'GET', url: '/api/admin/user' },
  permission: 'authenticated',
  reply: Me,
});

export const GetProfile = defineOperation({
  subject: 'call.gateway.get-profile',
  summary: 'Get the own profile',
  description: 'Returns the root role and the projects of the caller.',
  http: { method: 'GET', url: '/api/admin/user/profile' },
  permission: 'authenticated',
  reply: Profile,
});
