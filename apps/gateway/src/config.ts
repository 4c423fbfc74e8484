import { signingAlgorithms } from '@bunting/contracts';
import { deliverySettings } from '@bunting/delivery';
import { httpSettings } from '@bunting/http';
import { databaseSettings, outboxSettings, smtpSettings } from '@bunting/runtime';
import { type Static, Type } from 'typebox';

/** Settings of the gateway, read from the environment. */
export const GatewayConfig = Type.Object({
  PORT: Type.Integer({ minimum: 0, maximum: 65535, default: 4242, description: 'port of the API; 0 takes a free one' }),
  GATEWAY_HOST: Type.String({ minLength: 1, default: '0.0.0.0', description: 'address that the API listens on' }),
  GATEWAY_PUBLIC_URL: Type.String({
    default: '',
    description:
      'public URL of Bunting, also below a path of the host, such as `https://example.com/bunting`; Unleash user interfaces show it to users who connect an SDK',
  }),
  GATEWAY_CONSOLE_DIR: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'folder of the built console; without it, where the console is built in the repository',
    }),
  ),
  ...databaseSettings('GATEWAY', { poolMax: 8, minPoolMax: 4, statementTimeoutMs: 5_000 }),
  ...outboxSettings('GATEWAY'),
  BUNTING_ADMIN_TOKEN: Type.Optional(
    Type.String({
      secret: true,
      pattern: '^[!-~]{16,256}$',
      description:
        'admin token that works from the start, 16 to 256 visible characters; a new value revokes the previous one; without it the first start generates a token',
    }),
  ),
  INIT_ADMIN_API_TOKENS: Type.Optional(
    Type.String({
      secret: true,
      description:
        'admin tokens, `*:*.<secret>`, comma-separated, that the first start creates instead of generating one',
    }),
  ),
  INIT_CLIENT_API_TOKENS: Type.Optional(
    Type.String({
      secret: true,
      description: 'client tokens, `<project>:<environment>.<secret>`, comma-separated, that the first start creates',
    }),
  ),
  INIT_FRONTEND_API_TOKENS: Type.Optional(
    Type.String({
      secret: true,
      description: 'frontend tokens, `<project>:<environment>.<secret>`, comma-separated, that the first start creates',
    }),
  ),
  INIT_ADMIN_EMAIL: Type.Optional(
    Type.String({
      minLength: 3,
      maxLength: 255,
      description:
        'e-mail address of an administrator that a start creates while no user exists; requires INIT_ADMIN_PASSWORD',
    }),
  ),
  INIT_ADMIN_PASSWORD: Type.Optional(
    Type.String({ secret: true, minLength: 1, maxLength: 1_000, description: 'the password of that administrator' }),
  ),
  ...smtpSettings(
    'for links to choose a password; without it administrators hand links over; requires GATEWAY_PUBLIC_URL',
  ),
  GATEWAY_TOKEN_KEY: Type.Optional(
    Type.String({
      secret: true,
      minLength: 32,
      description:
        'key of the HMAC that tokens are stored as; without it the gateway generates one and stores it in the database',
    }),
  ),
  GATEWAY_READABLE_SDK_TOKENS: Type.Boolean({
    default: false,
    description:
      'whether secrets of client and frontend tokens are also stored encrypted and listed to callers who may create such tokens; requires GATEWAY_TOKEN_KEY',
  }),
  OIDC_ENABLED: Type.Optional(
    Type.Boolean({
      description:
        'whether users can sign in with OpenID Connect; once set, the variables OIDC_* give the settings, and they are read-only in the API',
    }),
  ),
  OIDC_DISCOVER_URL: Type.String({
    default: '',
    description: 'address of the OpenID provider: its issuer, with or without `/.well-known/openid-configuration`',
  }),
  OIDC_CLIENT_ID: Type.String({ default: '', description: 'id that the OpenID provider gave to Bunting' }),
  OIDC_CLIENT_SECRET: Type.Optional(
    Type.String({
      secret: true,
      description: 'secret that the OpenID provider gave to Bunting; none for a public client',
    }),
  ),
  OIDC_AUTO_CREATE: Type.Boolean({
    default: false,
    description: 'whether a user is created at the first sign-in with OpenID Connect',
  }),
  OIDC_AUTO_CREATE_EMAIL_DOMAINS: Type.String({
    default: '',
    description:
      'domains of e-mail addresses that may sign in with OpenID Connect, comma-separated; empty for every domain',
  }),
  OIDC_DEFAULT_ROOT_ROLE: Type.Enum(['Admin', 'Editor', 'Viewer'], {
    type: 'string',
    default: 'Viewer',
    description: 'root role of users that are created at their first sign-in with OpenID Connect',
  }),
  OIDC_ENABLE_GROUP_SYNCING: Type.Boolean({
    default: false,
    description: 'whether each sign-in brings the groups of Bunting in line with those that the OpenID provider names',
  }),
  OIDC_GROUP_JSON_PATH: Type.String({
    default: 'groups',
    description: 'claim that holds the names of groups, as a path such as `groups` or `realm_access.roles`',
  }),
  OIDC_ADD_GROUPS_SCOPE: Type.Boolean({
    default: false,
    description: 'whether the scope `groups` is requested from the OpenID provider',
  }),
  OIDC_EXTRA_SCOPES: Type.String({
    default: '',
    description: 'further scopes to request from the OpenID provider, space-separated',
  }),
  OIDC_ACR_VALUES: Type.String({
    default: '',
    description:
      'values of the claim `acr`, space-separated, of which the OpenID provider must attest one; empty for any',
  }),
  OIDC_ID_TOKEN_SIGNING_ALGORITHM: Type.Enum([...signingAlgorithms], {
    type: 'string',
    default: 'RS256',
    description: 'algorithm that ID tokens must be signed with',
  }),
  OIDC_ENABLE_SINGLE_SIGN_OUT: Type.Boolean({
    default: false,
    description: 'whether signing out of Bunting also ends the session at the OpenID provider',
  }),
  OIDC_TRUST_EMAILS: Type.Boolean({
    default: false,
    description:
      'whether an e-mail address counts as verified when the OpenID provider does not say so; only for a provider at which users cannot choose their addresses',
  }),
  GATEWAY_TOKEN_CACHE_TTL_MS: Type.Integer({
    minimum: 0,
    maximum: 5_000,
    default: 2_000,
    description:
      'token cache TTL in milliseconds: the longest a revoked token may keep working where the notification of its revocation is lost',
  }),
  GATEWAY_LAST_SEEN_FLUSH_INTERVAL_MS: Type.Integer({
    minimum: 100,
    default: 10_000,
    description: 'milliseconds between writes of when tokens were last used',
  }),
  GATEWAY_SESSION_IDLE_HOURS: Type.Integer({
    minimum: 1,
    maximum: 8_760,
    default: 48,
    description: 'hours after its last request that the session of a user ends',
  }),
  GATEWAY_SESSION_MAX_HOURS: Type.Integer({
    minimum: 1,
    maximum: 8_760,
    default: 336,
    description: 'hours after signing in that the session of a user ends in any case',
  }),
  GATEWAY_PASSWORD_COST: Type.Integer({
    minimum: 10,
    maximum: 20,
    default: 15,
    description:
      'binary logarithm of the cost of hashing a password with scrypt; one more doubles its time and memory, 32 MiB at 15; users are rehashed as they sign in',
  }),
  GATEWAY_MAX_FAILED_LOGINS_PER_MINUTE: Type.Integer({
    minimum: 0,
    default: 10,
    description:
      'maximum wrong passwords per minute from one address, per gateway, and three times as many for one user name from addresses where its user has no session; 429 beyond; 0 disables the limit',
  }),
  GATEWAY_DELIVERY_POLL_INTERVAL_MS: Type.Integer({
    minimum: 10,
    default: 5_000,
    description:
      'milliseconds between polls of the features service for what SDKs evaluate; a commit wakes the gateway without it',
  }),
  GATEWAY_DELIVERY_WAIT_TIMEOUT_MS: Type.Integer({
    minimum: 0,
    default: 1_000,
    description:
      'milliseconds that a response to an SDK waits for the latest changes; after that it is sent without them, with the header Bunting-Stale',
  }),
  GATEWAY_PROJECTS_POLL_INTERVAL_MS: Type.Integer({
    minimum: 10,
    default: 5_000,
    description:
      'milliseconds between polls of the features service for changes of projects; a commit wakes the projection without it',
  }),
  GATEWAY_PROJECTS_WAIT_TIMEOUT_MS: Type.Integer({
    minimum: 0,
    default: 2_000,
    description:
      'maximum milliseconds that the response to a change of a project waits until the gateway has applied who may see the project',
  }),
  ...httpSettings,
  ...deliverySettings,
});
export type GatewayConfig = Static<typeof GatewayConfig>;
