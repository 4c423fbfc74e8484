import { Type } from 'typebox';
import { operationsOf } from '../operation.ts';
import { Nullable } from '../schemas.ts';
import { emailAddress, maxPasswordLength, User } from './account.ts';

const defineOperation = operationsOf('Auth');

export const password = Type.String({ minLength: 1, maxLength: maxPasswordLength, description: 'the password' });

export const linkSecret = Type.String({ minLength: 1, maxLength: 255, description: 'the secret of the link' });

export const username = Type.Optional(
  Nullable(Type.String({ maxLength: 255 }), {
    description: 'the username; it or an e-mail address is required',
  }),
);

export const LoginBody = Type.Object(
  {
    username: Type.String({ minLength: 1, maxLength: 255, description: 'the user name or the e-mail address' }),
    password,
  },
  { title: 'loginSchema', description: 'A user name or an e-mail address, and the password of the user.' },
);

/** The IP address of the client, which the gateway takes from the connection. */
export const ClientAddressQuery = Type.Object({ address: Type.String() });

/** The IP address and the browser of a client that starts a session, which the gateway takes from the connection and the headers. */
export const SessionClientQuery = Type.Object({
  address: Type.String(),
  userAgent: Type.Optional(
    Type.String({
      documentedPattern: '^[ -~]*$',
      description: 'the name of the browser, shown in lists of sessions',
    }),
  ),
});

const name = Type.Optional(Nullable(Type.String({ maxLength: 255 }), { description: 'the name of the user' }));

export const LinkSecretQuery = Type.Object({ token: linkSecret });

export const FirstAdminBody = Type.Object(
  { token: linkSecret, name, username, email: Type.Optional(emailAddress), password },
  { title: 'createFirstAdminSchema', description: 'The properties of the first administrator.' },
);

/** Emits `user-created`. */
export const CreateFirstAdmin = defineOperation({
  subject: 'call.gateway.create-first-admin',
  summary: 'Create the first administrator',
  description:
    'Creates an administrator with a password, and signs them in. The link works once, and only while no user exists.',
  isBuntingExtension: true,
  http: { method: 'POST', url: '/auth/first', status: 201, address: 'address', headers: { userAgent: 'User-Agent' } },
  permission: 'public',
  query: SessionClientQuery,
  body: FirstAdminBody,
  reply: User,
  errors: ['ValidationError', 'OwaspValidationError', 'InvalidTokenError', 'UsedTokenError'],
});

export const LogIn = defineOperation({
  subject: 'call.gateway.log-in',
  operationId: 'login',
  summary: 'Sign in with a password',
  description:
    'Starts a session and sets its cookie, which works like an API key of the user. Every failure has the same response, whether the user exists or not.',
  http: { method: 'POST', url: '/auth/simple/login', address: 'address', headers: { userAgent: 'User-Agent' } },
  permission: 'public',
  query: SessionClientQuery,
  body: LoginBody,
  reply: User,
  errors: ['ValidationError', 'PasswordMismatch', 'InvalidOperationError', 'RateLimitError'],
});

export const ValidateFirstAdminLink = defineOperation({
  subject: 'call.gateway.validate-first-admin-link',
  operationId: 'validateFirstLink',
  summary: 'Validate the link of the first administrator',
  description: 'Returns whether the link that the first start prints can still be used.',
  isBuntingExtension: true,
  http: { method: 'GET', url: '/auth/first/validate' },
  permission: 'public',
  query: LinkSecretQuery,
  errors: ['ValidationError', 'InvalidTokenError', 'UsedTokenError'],
});
