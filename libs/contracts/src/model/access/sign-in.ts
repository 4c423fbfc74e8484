import { type Static, Type } from 'typebox';
import { Role } from './access.ts';
import { maxPasswordLength, User } from './account.ts';
import { Nullable, Timestamp } from '../schema.ts';

/** A session of a user in one browser. */
export const UserSession = Type.Object(
  {
    id: Type.String({ description: 'the id of the session; it is no secret' }),
    userAgent: Type.String({ description: 'the name of the browser' }),
    address: Type.String({ description: 'the address that the user signed in from' }),
    createdAt: Timestamp('when the user signed in'),
    seenAt: Timestamp('when it was last used, to within seconds'),
    expiresAt: Timestamp('when it ends at the latest'),
    isCurrent: Type.Boolean({ description: 'whether the request itself belongs to this session' }),
  },
  { title: 'userSessionSchema', description: 'A session of a user in one browser.' },
);
export type UserSession = Static<typeof UserSession>;

export const UserSessions = Type.Object(
  { sessions: Type.Array(UserSession, { description: 'the sessions, the most recently used first' }) },
  { title: 'userSessionsSchema', description: 'The sessions of a user.' },
);
export type UserSessions = Static<typeof UserSessions>;

const password = Type.String({ minLength: 1, maxLength: maxPasswordLength, description: 'the password' });

export const LoginBody = Type.Object(
  {
    username: Type.String({ minLength: 1, maxLength: 255, description: 'the user name or the e-mail address' }),
    password,
  },
  { title: 'loginSchema', description: 'A user name or an e-mail address, and the password of the user.' },
);
export type LoginBody = Static<typeof LoginBody>;

/** The IP address of the client, which the gateway takes from the connection. */
export const ClientAddressQuery = Type.Object({ address: Type.String() });

/** The IP address and the browser of a client that starts a session, which the gateway takes from the connection and the headers. */
export const ClientQuery = Type.Object({
  address: Type.String(),
  userAgent: Type.Optional(
    Type.String({
      documentedPattern: '^[ -~]*$',
      description: 'the name of the browser, shown in lists of sessions',
    }),
  ),
});

const link = Type.String({ minLength: 1, maxLength: 255, description: 'the secret of the link' });
const name = Type.Optional(Nullable(Type.String({ maxLength: 255 }), { description: 'the name of the user' }));
const username = Type.Optional(
  Nullable(Type.String({ maxLength: 255 }), {
    description: 'the username; it or an e-mail address is required',
  }),
);
const email = Nullable(Type.String({ maxLength: 255 }), { description: 'the e-mail address' });

export const LinkQuery = Type.Object({ token: link });

export const FirstAdminBody = Type.Object(
  { token: link, name, username, email: Type.Optional(email), password },
  { title: 'createFirstAdminSchema', description: 'The properties of the first administrator.' },
);

/** The user whose password a link sets, in the form of Unleash. */
export const ResetLinkUser = Type.Object(
  {
    id: Type.Integer({ description: 'the id of the user' }),
    name: Type.Optional(Type.String({ description: 'the name of the user' })),
    email: Type.Optional(Type.String({ description: 'the e-mail address of the user' })),
    token: link,
    createdBy: Nullable(Type.String(), {
      description: 'the creator of the link; null if the user requested it by mail',
    }),
    role: Role,
  },
  { title: 'tokenUserSchema', description: 'The user whose password the link sets.' },
);

export type ResetLinkUser = Static<typeof ResetLinkUser>;

export const ResetPasswordBody = Type.Object(
  { token: link, password },
  { title: 'changePasswordSchema', description: 'A link to choose a password, and the password.' },
);

export const PasswordToCheck = Type.Object(
  { password },
  { title: 'validatePasswordSchema', description: 'A password whose strength is checked.' },
);

export const EmailAddressBody = Type.Object(
  { email: Type.String({ minLength: 1, maxLength: 255, description: 'the e-mail address' }) },
  { title: 'emailSchema', description: 'An e-mail address.' },
);

const newPassword = {
  password,
  confirmPassword: Type.Optional(
    Type.String({ maxLength: maxPasswordLength, description: 'the password again; it must be the same' }),
  ),
};

export const ChangePasswordBody = Type.Object(newPassword, {
  title: 'passwordSchema',
  description: 'A new password.',
});

export const ChangeOwnPasswordBody = Type.Object(
  {
    ...newPassword,
    oldPassword: Type.String({ minLength: 1, maxLength: maxPasswordLength, description: 'the present password' }),
  },
  { title: 'ownPasswordSchema', description: 'A new password and the present one.' },
);

export const ResetLinkBody = Type.Object(
  { id: Type.String({ minLength: 1, maxLength: 255, description: 'the e-mail address or the user name' }) },
  { title: 'userNameSchema', description: 'The user of the link.' },
);

export const ResetLink = Type.Object(
  { resetPasswordUrl: Type.String({ description: 'the address of the page on which the user chooses a password' }) },
  { title: 'resetPasswordSchema', description: 'A link to choose a password.' },
);

const enabled = Type.Boolean({ description: 'whether the link works' });
const expiresAt = Timestamp('until when the link works');

/** An invitation link, with which people create their own accounts. */
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
  },
  { title: 'publicSignupTokenSchema', description: 'An invitation link, with which users create their own accounts.' },
);
export type InviteLink = Static<typeof InviteLink>;

export const InviteLinks = Type.Object(
  { tokens: Type.Array(InviteLink, { description: 'the links, in the order of their creation' }) },
  { title: 'publicSignupTokensSchema', description: 'The invitation links.' },
);

export const CreateInviteLinkBody = Type.Object(
  { name: Type.String({ minLength: 1, maxLength: 255, description: 'the name of the link' }), expiresAt },
  { title: 'publicSignupTokenCreateSchema', description: 'The properties of a new invitation link.' },
);

export const UpdateInviteLinkBody = Type.Object(
  { expiresAt: Type.Optional(expiresAt), enabled: Type.Optional(enabled) },
  { title: 'publicSignupTokenUpdateSchema', description: 'The properties of an invitation link to change.' },
);

export const SignUpBody = Type.Object(
  { name: Type.String({ maxLength: 255, description: 'the name of the user' }), username, email, password },
  { title: 'createInvitedUserSchema', description: 'The user who creates an account with an invitation link.' },
);
