import { type Static, Type } from 'typebox';
import { operationsOf } from '../operation.ts';
import { InviteLinkPath } from '../paths.ts';
import { maxId, Timestamp } from '../schemas.ts';
import { Role } from './roles.ts';
import { ClientAddressQuery, password, username } from './sign-in.ts';
import { emailAddress, User } from './account.ts';

const defineOperation = operationsOf('Public signup tokens');

const enabled = Type.Boolean({ description: 'whether the link works' });
const expiresAt = Timestamp('until when the link works');

function named(what: string) {
  return Type.Object(
    { id: Type.Integer({ description: 'its id' }), name: Type.String({ description: 'its name' }) },
    { description: what },
  );
}

export const InviteLink = Type.Object(
  {
    secret: Type.String({ description: 'the secret of the link' }),
    url: Type.String({ description: 'the address of the page on which people create their accounts' }),
    name: Type.String({ description: 'the name of the link' }),
    enabled,
    expiresAt,
    createdAt: Timestamp('when the link was created'),
    createdBy: Type.String({ description: 'the creator of the link' }),
    users: Type.Array(User, { description: 'the users who created an account with the link' }),
    role: Role,
    groups: Type.Array(named('a group'), { description: 'the groups that the users join' }),
    projects: Type.Array(
      Type.Object({ id: Type.String({ description: 'the id of the project' }), role: named('the role there') }),
      { description: 'the roles that the users get in projects' },
    ),
  },
  { title: 'publicSignupTokenSchema', description: 'An invitation link, with which users create their own accounts.' },
);
export type InviteLink = Static<typeof InviteLink>;

export const InviteLinks = Type.Object(
  { tokens: Type.Array(InviteLink, { description: 'the links, in the order of their creation' }) },
  { title: 'publicSignupTokensSchema', description: 'The invitation links.' },
);

export const CreateInviteLinkBody = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 255, description: 'the name of the link' }),
    expiresAt,
    rootRole: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: maxId,
        description: 'the id of the root role that the users get, but for Admin; without it, Viewer',
      }),
    ),
    groups: Type.Optional(
      Type.Array(Type.Integer({ minimum: 1, maximum: maxId }), {
        maxItems: 50,
        description: 'ids of groups that the users join, but for those that give Admin',
      }),
    ),
    projects: Type.Optional(
      Type.Array(
        Type.Object({
          id: Type.String({ minLength: 1, maxLength: 100, description: 'the id of the project' }),
          role: Type.Integer({ minimum: 1, maximum: maxId, description: 'the id of a role for projects' }),
        }),
        { maxItems: 50, description: 'roles in projects that the users get' },
      ),
    ),
  },
  { title: 'publicSignupTokenCreateSchema', description: 'The properties of a new invitation link.' },
);

export const UpdateInviteLinkBody = Type.Object(
  { expiresAt: Type.Optional(expiresAt), enabled: Type.Optional(enabled) },
  { title: 'publicSignupTokenUpdateSchema', description: 'The properties of an invitation link to change.' },
);

export const SignUpBody = Type.Object(
  {
    name: Type.String({ maxLength: 255, description: 'the name of the user' }),
    username,
    email: emailAddress,
    password,
  },
  { title: 'createInvitedUserSchema', description: 'The user who creates an account with an invitation link.' },
);

/** Emits `public-signup-token-created`. */
export const CreateInviteLink = defineOperation({
  subject: 'call.gateway.create-invite-link',
  operationId: 'createPublicSignupToken',
  summary: 'Create an invitation link',
  description:
    'Creates a link with which people create their own accounts, with the role Viewer or another root role, and with groups and roles in projects. A user gets those that still exist then, and that the creator of the link may still give.',
  http: { method: 'POST', url: '/api/admin/invite-link/tokens', status: 201 },
  permission: 'ADMIN',
  body: CreateInviteLinkBody,
  reply: InviteLink,
  errors: ['ValidationError', 'NotFoundError'],
});

export const GetInviteLink = defineOperation({
  subject: 'call.gateway.get-invite-link',
  operationId: 'getPublicSignupToken',
  summary: 'Get an invitation link',
  description: 'Returns an invitation link with the users who used it.',
  http: { method: 'GET', url: '/api/admin/invite-link/tokens/:token' },
  permission: 'ADMIN',
  params: InviteLinkPath,
  reply: InviteLink,
});

export const ListInviteLinks = defineOperation({
  subject: 'call.gateway.list-invite-links',
  operationId: 'getAllPublicSignupTokens',
  summary: 'List the invitation links',
  description: 'Returns the links by which people create their own accounts.',
  http: { method: 'GET', url: '/api/admin/invite-link/tokens' },
  permission: 'ADMIN',
  reply: InviteLinks,
});

/** Emits `user-created` and `public-signup-token-user-added`. */
export const SignUp = defineOperation({
  subject: 'call.gateway.sign-up',
  operationId: 'addPublicSignupTokenUser',
  summary: 'Create an account by an invitation link',
  description: 'Creates a user with the role of the invitation, who signs in with the password.',
  http: { method: 'POST', url: '/invite/:token/signup', status: 201, address: 'address' },
  permission: 'public',
  params: InviteLinkPath,
  query: ClientAddressQuery,
  body: SignUpBody,
  reply: User,
  errors: ['InvalidOperationError', 'ValidationError', 'OwaspValidationError', 'RateLimitError'],
});

/** Emits `public-signup-token-updated`. */
export const UpdateInviteLink = defineOperation({
  subject: 'call.gateway.update-invite-link',
  operationId: 'updatePublicSignupToken',
  summary: 'Update an invitation link',
  description: 'Changes until when an invitation link works, and whether it works.',
  http: { method: 'PUT', url: '/api/admin/invite-link/tokens/:token' },
  permission: 'ADMIN',
  params: InviteLinkPath,
  body: UpdateInviteLinkBody,
  reply: InviteLink,
});

export const ValidateInviteLink = defineOperation({
  subject: 'call.gateway.validate-invite-link',
  operationId: 'validatePublicSignupToken',
  summary: 'Validate an invitation link',
  description: 'Returns whether an invitation link is valid.',
  http: { method: 'GET', url: '/invite/:token/validate' },
  permission: 'public',
  params: InviteLinkPath,
  errors: ['ValidationError'],
});
