import { Type, type Static } from 'typebox';
import { AccountText, User, RootRole, emailAddress, rootRoleReference, maxPasswordLength } from './account.ts';
import { Nullable, notBlank, Constant, Timestamp, maxId, PageQuery } from '../schemas.ts';
import { operationsOf } from '../operation.ts';
import { AccountPath } from '../paths.ts';

const defineOperation = operationsOf('Users');

const { id, name, username, email, imageUrl, scimId, seenAt, createdAt, active, accountType } = User.properties;

const inviteLink = Type.String({
  description:
    'the link by which a user who was created without a password chooses one; returned only on creation, else empty',
});

export const CreatedUser = Type.Object(
  {
    ...User.properties,
    inviteLink,
    emailSent: Type.Boolean({ description: 'whether the link was sent by mail' }),
  },
  { title: 'createUserResponseSchema', description: 'A user that was just created.' },
);
export type CreatedUser = Static<typeof CreatedUser>;

export const Users = Type.Object(
  {
    users: Type.Array(Type.Object({ ...User.properties, inviteLink }), { description: 'the users, by their ids' }),
    rootRoles: Type.Array(RootRole, { description: 'the roles that a user can have everywhere' }),
  },
  { title: 'usersSchema', description: 'The users.' },
);
export type Users = Static<typeof Users>;

export const UserSearchResults = Type.Array(
  Type.Object({
    id,
    isAPI: Type.Boolean({ description: 'always false: a key alone is no user' }),
    name,
    username,
    email,
    imageUrl,
    accountType: Type.Enum(['User', 'Service Account'], {
      type: 'string',
      description: '`User`; `Service Account` only where `ids` names one',
    }),
    scimId,
  }),
  {
    title: 'usersSearchSchema',
    description: 'The users whose name, username or e-mail begins with the text of the query, or who have its ids.',
  },
);
export type UserSearchResults = Static<typeof UserSearchResults>;

export const SearchUsersQuery = Type.Object({
  q: Type.Optional(
    Type.String({ maxLength: 255, description: 'how a name, username or e-mail begins; at least two characters' }),
  ),
  ids: Type.Optional(
    Type.String({
      documentedPattern: '^[1-9][0-9]{0,8}(,[1-9][0-9]{0,8}){0,99}$',
      description:
        'instead of `q`: the ids of up to 100 users and service accounts, comma-separated; Bunting alone has it',
    }),
  ),
});

export const CreateUserBody = Type.Object(
  {
    name: Type.Optional(AccountText('the name of the user')),
    username: Type.Optional(AccountText('the username; it or an e-mail address is required')),
    email: Type.Optional(emailAddress),
    rootRole: rootRoleReference,
    password: Type.Optional(
      Nullable(Type.String({ maxLength: maxPasswordLength }), {
        description: 'the password of the user; without one the user chooses it by the link `inviteLink`',
      }),
    ),
    sendEmail: Type.Optional(
      Nullable(Type.Boolean(), {
        description: 'whether to send the link by mail, if a mail server is set; default: true',
      }),
    ),
  },
  {
    title: 'createUserSchema',
    description: 'The properties of a new user.',
    additionalProperties: false,
    documentedAnyOf: ['username', 'email'].map((name) => ({
      required: [name],
      properties: { [name]: { type: 'string', maxLength: 255, ...notBlank } },
    })),
  },
);
export type CreateUserBody = Static<typeof CreateUserBody>;

export const UpdateUserBody = Type.Object(
  {
    name: Type.Optional(AccountText('the name of the user')),
    email: Type.Optional(emailAddress),
    rootRole: Type.Optional(rootRoleReference),
    active: Type.Optional(active),
  },
  { title: 'updateUserSchema', description: 'The properties of a user to change. Omitted properties do not change.' },
);
export type UpdateUserBody = Static<typeof UpdateUserBody>;

export const UsersAndGroups = Type.Object(
  {
    users: Type.Array(
      Type.Object({
        id,
        name,
        username,
        email,
        accountType,
      }),
      { description: 'users and service accounts, by their ids' },
    ),
    groups: Type.Array(
      Type.Object({
        id: Type.Integer({ description: 'the id of the group' }),
        name: Type.String({ description: 'the name of the group' }),
        rootRole: Nullable(Type.Integer(), { description: 'the root role that its members have through it' }),
        userCount: Type.Integer({ description: 'the number of its members' }),
      }),
      { description: 'the groups, by their names' },
    ),
  },
  { title: 'usersGroupsBaseSchema', description: 'The users and groups that can get access.' },
);
export type UsersAndGroups = Static<typeof UsersAndGroups>;

export const AdminCount = Type.Object(
  {
    password: Type.Integer({ description: 'users with a password' }),
    noPassword: Type.Integer({ description: 'users without a password' }),
    service: Type.Integer({ description: 'service accounts' }),
  },
  { title: 'adminCountSchema', description: 'The number of accounts with the root role Admin.' },
);
export type AdminCount = Static<typeof AdminCount>;

export const InactiveUsers = Type.Object(
  {
    version: Constant(1, 'the version of this format'),
    inactiveUsers: Type.Array(
      Type.Object({
        id,
        name,
        username,
        email,
        seenAt,
        createdAt,
        patSeenAt: Nullable(Timestamp('when a key of the user was last used')),
      }),
      { description: 'the users, by their ids' },
    ),
  },
  { title: 'inactiveUsersSchema', description: 'The users who have not used Bunting for 180 days.' },
);
export type InactiveUsers = Static<typeof InactiveUsers>;

export const DeleteInactiveUsersBody = Type.Object(
  { ids: Type.Array(Type.Integer({ minimum: 0, maximum: maxId }), { maxItems: 1_000, description: 'the users' }) },
  { title: 'idsSchema', description: 'Users to delete, of those who are inactive.' },
);

export const UserPermissionsQuery = Type.Object({
  project: Type.Optional(Type.String({ maxLength: 100, description: 'the project to look at' })),
  environment: Type.Optional(Type.String({ maxLength: 100, description: 'the environment to look at' })),
});

function heldPermissions(description: string) {
  return Type.Array(
    Type.Object({
      id: Type.Integer({ description: 'the number of the permission' }),
      name: Type.String({ description: 'the permission' }),
      displayName: Type.String({ description: 'the display name' }),
      type: Type.String({ description: '`root`, `project` or `environment`' }),
      hasPermission: Type.Boolean({ description: 'whether the user holds it' }),
      environment: Type.Optional(Type.String({ description: 'the environment of the query' })),
    }),
    { description },
  );
}

export const UserPermissions = Type.Object(
  {
    matrix: Type.Object({
      root: heldPermissions('permissions that hold everywhere'),
      project: heldPermissions('permissions in the project'),
      environment: heldPermissions('permissions in the environment; none without one in the query'),
    }),
    user: User,
    rootRole: RootRole,
    projectRoles: Type.Array(RootRole, { description: 'the roles of the user in the project' }),
  },
  { title: 'userPermissionsSchema', description: 'The permissions of a user.' },
);
export type UserPermissions = Static<typeof UserPermissions>;

export const CountAdmins = defineOperation({
  subject: 'call.gateway.count-admins',
  operationId: 'getAdminCount',
  summary: 'Count the administrators',
  description: 'Returns the number of users and service accounts whose own root role is Admin.',
  http: { method: 'GET', url: '/api/admin/user-admin/admin-count' },
  permission: 'ADMIN',
  reply: AdminCount,
});

/** Emits `user-created`. */
export const CreateUser = defineOperation({
  subject: 'call.gateway.create-user',
  summary: 'Create a user',
  description:
    'Adds a user. Without a password the response has a link with which the user chooses one, within a week.',
  http: {
    method: 'POST',
    url: '/api/admin/user-admin',
    status: 201,
    location: (_request, created: CreatedUser) => `user-admin/${created.id}`,
  },
  permission: 'ADMIN',
  body: CreateUserBody,
  reply: CreatedUser,
});

/** Emits `user-deleted` for each. */
export const DeleteInactiveUsers = defineOperation({
  subject: 'call.gateway.delete-inactive-users',
  summary: 'Delete inactive users',
  description: 'Deletes those of the users who are inactive, all or none. The others, and the caller, stay.',
  http: { method: 'POST', url: '/api/admin/user-admin/inactive/delete' },
  permission: 'ADMIN',
  body: DeleteInactiveUsersBody,
  errors: ['ValidationError', 'InvalidOperationError'],
});

/** Emits `user-deleted`. */
export const DeleteUser = defineOperation({
  subject: 'call.gateway.delete-user',
  summary: 'Delete a user',
  description: 'Deletes a user. All keys of the user stop working.',
  http: { method: 'DELETE', url: '/api/admin/user-admin/:id', anyContentType: true },
  permission: 'ADMIN',
  params: AccountPath,
  errors: ['NotFoundError', 'InvalidOperationError'],
});

export const GetUserPermissions = defineOperation({
  subject: 'call.gateway.get-user-permissions',
  summary: 'Get the permissions of a user',
  description:
    'Returns every permission with whether the user holds it: everywhere, or in the project and environment of the query.',
  http: { method: 'GET', url: '/api/admin/user-admin/:id/permissions' },
  permission: 'ADMIN',
  params: AccountPath,
  query: UserPermissionsQuery,
  reply: UserPermissions,
});

export const GetUser = defineOperation({
  subject: 'call.gateway.get-user',
  summary: 'Get a user',
  description: 'Returns a user.',
  http: { method: 'GET', url: '/api/admin/user-admin/:id' },
  permission: 'ADMIN',
  params: AccountPath,
  reply: User,
});

/** Lists the users who have not used Bunting for 180 days. */
export const ListInactiveUsers = defineOperation({
  subject: 'call.gateway.list-inactive-users',
  operationId: 'getInactiveUsers',
  summary: 'List the inactive users',
  description: 'Returns the users who were created, and last used a key or a session, more than 180 days ago.',
  http: { method: 'GET', url: '/api/admin/user-admin/inactive' },
  permission: 'ADMIN',
  reply: InactiveUsers,
});

export const ListUsersAndGroups = defineOperation({
  subject: 'call.gateway.list-users-and-groups',
  operationId: 'getBaseUsersAndGroups',
  summary: 'List the users and groups that can get access',
  description: 'Returns the names of users, service accounts and groups, for callers who assign roles in projects.',
  http: { method: 'GET', url: '/api/admin/user-admin/access' },
  permission: ['UPDATE_PROJECT', 'PROJECT_USER_ACCESS_READ', 'PROJECT_USER_ACCESS_WRITE'],
  reply: UsersAndGroups,
});

export const ListUsers = defineOperation({
  subject: 'call.gateway.list-users',
  operationId: 'getUsers',
  summary: 'List the users',
  description: 'Returns the users who were not deleted, and the roles that they can have everywhere.',
  http: { method: 'GET', url: '/api/admin/user-admin' },
  permission: 'ADMIN',
  query: PageQuery('users'),
  reply: Users,
});

export const SearchUsers = defineOperation({
  subject: 'call.gateway.search-users',
  summary: 'Search users',
  description:
    'Returns the users whose name, username or e-mail begins with the text, or those with the ids. Deleted ones are left out.',
  http: { method: 'GET', url: '/api/admin/user-admin/search' },
  permission: 'authenticated',
  query: SearchUsersQuery,
  reply: UserSearchResults,
  errors: ['ValidationError'],
});

/** Emits `user-updated`. */
export const UpdateUser = defineOperation({
  subject: 'call.gateway.update-user',
  summary: 'Update a user',
  description: 'Changes name, e-mail, root role, and whether the keys of the user work.',
  http: { method: 'PUT', url: '/api/admin/user-admin/:id' },
  permission: 'ADMIN',
  params: AccountPath,
  body: UpdateUserBody,
  reply: User,
  errors: ['ValidationError', 'NotFoundError', 'InvalidOperationError'],
});
