import { type Static, Type } from 'typebox';
import { emailPattern } from '../documented-patterns.ts';
import { notBlank } from '../text-schemas.ts';
import { Grant } from '../../permissions.ts';
import { Constant, AnyObject, maxId, Nullable, Timestamp } from '../schema.ts';

/** The maximum length of a password in characters: longer ones are refused before they are hashed. */
export const maxPasswordLength = 1_000;

const id = Type.Integer({ description: 'the id of the user' });
const name = Type.Optional(Type.String({ description: 'the name of the user; absent if there is none' }));
const username = Type.Optional(Type.String({ description: 'the username; absent if there is none' }));
const email = Type.Optional(Type.String({ description: 'the e-mail address; absent if there is none' }));
const imageUrl = Type.String({ description: 'the address of the picture' });
const loginAttempts = Type.Integer({ description: 'always 0: failed sign-ins are limited, and lock no user' });
const inviteLink = Type.String({
  description:
    'the link by which a user who was created without a password chooses one; returned only on creation, else empty',
});
const scimId = Nullable(Type.String(), {
  description: 'the id under which an identity provider manages the user through SCIM; null when none does',
});
const rootRole = Type.Integer({ description: 'the id of the root role' });
const seenAt = Nullable(Timestamp('when it was last used'));
const createdAt = Timestamp('when it was created');
const text = (description: string) => Nullable(Type.String({ maxLength: 255 }), { description });
export const emailAddress = Nullable(Type.String({ maxLength: 255, documentedPattern: emailPattern }), {
  description: 'the e-mail address',
});
const rootRoleReference = Type.Union([Type.Integer(), Type.String({ maxLength: 255 })], {
  description: 'the root role, by its id or by its name',
});
const accountType = Type.Enum(['User', 'Service Account'], { type: 'string', description: 'a person or a machine' });
const active = Type.Boolean({ description: 'whether its keys work' });

/** A user or service account. */
export const User = Type.Object(
  {
    id,
    isAPI: Type.Boolean({ description: 'always false: a key alone is no user' }),
    name,
    username,
    email,
    imageUrl,
    rootRole,
    accountType,
    active,
    seenAt,
    createdAt,
    loginAttempts,
    scimId,
  },
  { title: 'userSchema', description: 'A user of Bunting.' },
);
export type User = Static<typeof User>;

/** A user that was just created. */
export const CreatedUser = Type.Object(
  {
    ...User.properties,
    inviteLink,
    emailSent: Type.Boolean({ description: 'whether the link was sent by mail' }),
  },
  { title: 'createUserResponseSchema', description: 'A user that was just created.' },
);
export type CreatedUser = Static<typeof CreatedUser>;

export const RootRole = Type.Object(
  {
    id: Type.Integer({ description: 'the id of the role' }),
    type: Type.String({ description: '`root`: predefined; `root-custom`: made here' }),
    name: Type.String({ description: 'the name of the role' }),
    description: Type.String({ description: 'the description of the role' }),
  },
  { title: 'rootRoleSchema', description: 'A role that holds everywhere.' },
);

export const Users = Type.Object(
  {
    users: Type.Array(Type.Object({ ...User.properties, inviteLink }), { description: 'the users, by their ids' }),
    rootRoles: Type.Array(RootRole, { description: 'the roles that a user can have everywhere' }),
  },
  { title: 'usersSchema', description: 'The users.' },
);
export type Users = Static<typeof Users>;

/** Users that match a search. */
export const UserSearchResults = Type.Array(
  Type.Object({
    id,
    isAPI: Type.Boolean({ description: 'always false: a key alone is no user' }),
    name,
    username,
    email,
    imageUrl,
    accountType: Type.Enum(['User', 'Service Account'], { type: 'string', description: 'always `User`' }),
    scimId,
  }),
  {
    title: 'usersSearchSchema',
    description: 'The users whose name, username or e-mail begins with the text of the query.',
  },
);
export type UserSearchResults = Static<typeof UserSearchResults>;

export const SearchUsersQuery = Type.Object({
  q: Type.Optional(
    Type.String({ maxLength: 255, description: 'how a name, username or e-mail begins; at least two characters' }),
  ),
});

export const CreateUserBody = Type.Object(
  {
    name: Type.Optional(text('the name of the user')),
    username: Type.Optional(text('the username; it or an e-mail address is required')),
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
    name: Type.Optional(text('the name of the user')),
    email: Type.Optional(emailAddress),
    rootRole: Type.Optional(rootRoleReference),
    active: Type.Optional(active),
  },
  { title: 'updateUserSchema', description: 'The properties of a user to change. Omitted properties do not change.' },
);
export type UpdateUserBody = Static<typeof UpdateUserBody>;

/** The caller and their permissions. */
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

/** A personal access token: it has the permissions of its user. Its secret is shown once. */
const pat = {
  id: Type.Integer({ description: 'the id of the token' }),
  description: Type.String({ description: 'the description of the token' }),
  expiresAt: Nullable(Timestamp('until when the token works; null: for ever')),
  createdAt,
  seenAt,
  userId: Type.Integer({ description: 'the user that the token acts as' }),
};
export const Pat = Type.Object(pat, { title: 'patSchema', description: 'A key that acts as a user.' });
export type Pat = Static<typeof Pat>;

export const CreatedPat = Type.Object(
  { ...pat, secret: Type.String({ description: 'the key itself, shown this once' }) },
  { title: 'createdPatSchema', description: 'A key that was just created.' },
);
export type CreatedPat = Static<typeof CreatedPat>;

export const Pats = Type.Object(
  { pats: Type.Array(Pat, { description: 'the tokens, newest last' }) },
  { title: 'patsSchema', description: 'The personal access tokens of a user.' },
);
export type Pats = Static<typeof Pats>;

export const CreatePatBody = Type.Object(
  {
    description: Type.String({ minLength: 1, maxLength: 255, description: 'the description of the token' }),
    expiresAt: Type.Optional(Nullable(Timestamp('until when the token works; for ever when left out'))),
  },
  { title: 'createPatSchema', description: 'The properties of a new personal access token.' },
);
export type CreatePatBody = Static<typeof CreatePatBody>;

export const ServiceAccounts = Type.Object(
  {
    serviceAccounts: Type.Array(
      Type.Object({ ...User.properties, tokens: Type.Array(Pat, { description: 'its keys' }) }),
      { description: 'the service accounts, by their ids' },
    ),
    rootRoles: Type.Array(RootRole, { description: 'the roles that a service account can have everywhere' }),
  },
  { title: 'serviceAccountsSchema', description: 'The service accounts.' },
);
export type ServiceAccounts = Static<typeof ServiceAccounts>;

export const CreateServiceAccountBody = Type.Object(
  {
    username: Type.String({ minLength: 1, maxLength: 255, description: 'the username of the account' }),
    name: Type.Optional(text('the name of the account')),
    rootRole: rootRoleReference,
  },
  { title: 'createServiceAccountSchema', description: 'The properties of a new service account.' },
);
export type CreateServiceAccountBody = Static<typeof CreateServiceAccountBody>;

export const UpdateServiceAccountBody = Type.Object(
  {
    name: Type.Optional(text('the name of the account')),
    rootRole: Type.Optional(rootRoleReference),
    active: Type.Optional(active),
  },
  { title: 'updateServiceAccountSchema', description: 'The properties of a service account to change.' },
);
export type UpdateServiceAccountBody = Static<typeof UpdateServiceAccountBody>;

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

/** The users and groups that can get roles. */
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
export type DeleteInactiveUsersBody = Static<typeof DeleteInactiveUsersBody>;

export const UserPermissionsQuery = Type.Object({
  project: Type.Optional(Type.String({ maxLength: 100, description: 'the project to look at' })),
  environment: Type.Optional(Type.String({ maxLength: 100, description: 'the environment to look at' })),
});

const heldPermissions = (description: string) =>
  Type.Array(
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
