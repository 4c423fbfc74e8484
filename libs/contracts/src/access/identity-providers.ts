import { type Static, Type } from 'typebox';
import { operationsOf } from '../operation.ts';
import { Nullable, optionalMembers } from '../schemas.ts';
import { PasswordSettings } from './passwords.ts';

const defineOperation = operationsOf('Auth');

/** The algorithms that ID tokens may be signed with: those that verify signatures with a public key. */
export const signingAlgorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
] as const;

const emailDomain = String.raw`\s*@?[^\s,;/:*@]*\s*`;

const oidc = {
  enabled: Type.Boolean({ description: 'whether users can sign in through the provider' }),
  discoverUrl: Type.String({
    maxLength: 2_048,
    description: 'the address of the provider: its issuer, with or without `/.well-known/openid-configuration`',
  }),
  clientId: Type.String({ maxLength: 1_024, description: 'the client id of Bunting at the provider' }),
  autoCreate: Type.Boolean({ description: 'whether a user is created at the first sign-in' }),
  emailDomains: Type.String({
    maxLength: 4_096,
    documentedPattern: `^${emailDomain}(,${emailDomain})*$`,
    description: 'domains of e-mail addresses that may sign in, comma-separated; empty for every domain',
  }),
  defaultRootRole: Type.Enum(['Admin', 'Editor', 'Viewer'], {
    type: 'string',
    description: 'the root role of users that are created at their first sign-in',
  }),
  defaultRootRoleId: Nullable(Type.Integer({ minimum: 0 }), {
    description:
      'the same by its id, which can also be that of a root role made here; null where the name counts, as which 0 is taken',
  }),
  enableSingleSignOut: Type.Boolean({
    description: 'whether signing out of Bunting also ends the session at the provider',
  }),
  addGroupsScope: Type.Boolean({ description: 'whether the scope `groups` is requested' }),
  enableGroupSyncing: Type.Boolean({
    description: 'whether each sign-in brings the groups of Bunting in line with the groups that the provider names',
  }),
  groupJsonPath: Type.String({
    maxLength: 255,
    description: 'the claim that holds the names of groups, as a path such as `groups` or `realm_access.roles`',
  }),
  acrValues: Type.String({
    maxLength: 1_024,
    description: 'values of the claim `acr`, space-separated, of which the provider must attest one; empty for any',
  }),
  idTokenSigningAlgorithm: Type.Enum([...signingAlgorithms], {
    type: 'string',
    description: 'the algorithm that ID tokens must be signed with',
  }),
  extraScopes: Type.String({ maxLength: 1_024, description: 'further scopes to request, space-separated' }),
  trustEmails: Type.Boolean({
    description:
      'whether an e-mail address counts as verified when the provider does not state it; only for a provider at which users cannot choose their addresses',
  }),
};

export const OidcSettings = Type.Object(
  {
    ...oidc,
    enablePkce: Type.Boolean({ description: 'always true: every sign-in uses PKCE' }),
    secret: Type.String({ description: 'always empty: the secret is never shown' }),
    hasSecret: Type.Boolean({ description: 'whether a secret is stored' }),
    isReadOnly: Type.Boolean({
      description: 'whether the variables OIDC_* set the settings, so that they are read-only',
    }),
  },
  { title: 'oidcSettingsResponseSchema', description: 'The settings of OpenID Connect.' },
);
export type OidcSettings = Static<typeof OidcSettings>;

export const OidcSettingsBody = Type.Object(
  {
    ...optionalMembers(oidc),
    secret: Type.Optional(
      Type.String({
        maxLength: 1_024,
        description:
          'the secret of the client; the stored one stays if it is omitted or empty and neither the provider nor the client changes',
      }),
    ),
  },
  {
    title: 'oidcSettingsSchema',
    description: 'The settings of OpenID Connect. Omitted settings do not change.',
  },
);
export type OidcSettingsBody = Static<typeof OidcSettingsBody>;

export const DiscoverProviderBody = Type.Object(
  {
    discoverUrl: oidc.discoverUrl,
    clientId: Type.Optional(oidc.clientId),
    idTokenSigningAlgorithm: Type.Optional(oidc.idTokenSigningAlgorithm),
  },
  {
    title: 'discoverOidcProviderSchema',
    description: 'The provider to discover. Omitted settings are read from storage.',
  },
);

function endpointUrl(description: string) {
  return Nullable(Type.String(), { description: `${description}; null where it has none` });
}
function supported(description: string) {
  return Type.Array(Type.String(), {
    description: `${description}: at most the first 100; empty if the provider publishes none`,
  });
}

export const DiscoveredProvider = Type.Object(
  {
    issuer: Type.String({ description: 'the issuer of the provider' }),
    authorizationEndpoint: endpointUrl('the address where people sign in'),
    tokenEndpoint: endpointUrl('the address where Bunting exchanges the code for tokens'),
    endSessionEndpoint: endpointUrl('the address where Bunting ends the session at the provider'),
    signingAlgorithms: supported('the algorithms by which it signs ID tokens'),
    scopes: supported('the scopes that it knows'),
    supportsPkce: Nullable(Type.Boolean(), {
      description: 'whether it supports PKCE; null if the provider does not publish it',
    }),
  },
  { title: 'discoveredOidcProviderSchema', description: 'The metadata of an OpenID provider.' },
);
export type DiscoveredProvider = Static<typeof DiscoveredProvider>;

const enabled = Type.Boolean({ description: 'whether an identity provider can manage users and groups through SCIM' });
const token = Type.String({ description: 'the token for the identity provider, shown this once' });

export const ScimSettings = Type.Object(
  { enabled, hasToken: Type.Boolean({ description: 'whether a token exists' }) },
  { title: 'scimSettingsSchema', description: 'Whether an identity provider manages users and groups through SCIM.' },
);

export const ScimSettingsBody = Type.Object(
  { enabled },
  {
    title: 'setScimSettingsSchema',
    description: 'Whether an identity provider manages users and groups through SCIM.',
  },
);

export const SavedScimSettings = Type.Object(
  { ...ScimSettings.properties, token: Type.Optional(token) },
  {
    title: 'savedScimSettingsSchema',
    description: 'The settings of SCIM, with the token when they were enabled for the first time.',
  },
);
export type SavedScimSettings = Static<typeof SavedScimSettings>;

export const ScimToken = Type.Object({ token }, { title: 'scimTokenSchema', description: 'The token of SCIM.' });

export const CreateScimToken = defineOperation({
  subject: 'call.gateway.create-scim-token',
  summary: 'Create a new token of SCIM',
  description: 'Replaces the token, which is shown this once. The previous one is no longer valid.',
  http: { method: 'POST', url: '/api/admin/scim-settings/generate-new-token' },
  permission: 'ADMIN',
  reply: ScimToken,
});

export const DiscoverOidcProvider = defineOperation({
  subject: 'call.gateway.discover-oidc-provider',
  summary: 'Discover an OpenID provider',
  description:
    'Reads the metadata of a provider, and lists the problems that would prevent a sign-in. Nothing is stored.',
  isBuntingExtension: true,
  http: { method: 'POST', url: '/api/admin/auth/oidc/discover' },
  permission: 'ADMIN',
  readsOnly: true,
  body: DiscoverProviderBody,
  reply: DiscoveredProvider,
});

export const GetOidcSettings = defineOperation({
  subject: 'call.gateway.get-oidc-settings',
  summary: 'Get the settings of OpenID Connect',
  description: 'Returns the settings of OpenID Connect. The secret is never returned.',
  http: { method: 'GET', url: '/api/admin/auth/oidc/settings' },
  permission: 'ADMIN',
  reply: OidcSettings,
});

export const GetPasswordSettings = defineOperation({
  subject: 'call.gateway.get-password-settings',
  operationId: 'getSimpleSettings',
  summary: 'Get the settings of passwords',
  description: 'Returns whether users can sign in with a password.',
  http: { method: 'GET', url: '/api/admin/auth/simple/settings' },
  permission: 'ADMIN',
  reply: PasswordSettings,
});

export const GetScimSettings = defineOperation({
  subject: 'call.gateway.get-scim-settings',
  summary: 'Get the settings of SCIM',
  description: 'Returns whether an identity provider can manage users and groups through SCIM.',
  http: { method: 'GET', url: '/api/admin/scim-settings' },
  permission: 'ADMIN',
  reply: ScimSettings,
});

export const SetOidcSettings = defineOperation({
  subject: 'call.gateway.set-oidc-settings',
  summary: 'Update the settings of OpenID Connect',
  description:
    'Discovers the provider before the settings are stored. The settings are read-only if the variables OIDC_* set them.',
  http: { method: 'POST', url: '/api/admin/auth/oidc/settings' },
  permission: 'ADMIN',
  idempotent: true,
  body: OidcSettingsBody,
  reply: OidcSettings,
  errors: ['ValidationError', 'InvalidOperationError'],
});

export const SetPasswordSettings = defineOperation({
  subject: 'call.gateway.set-password-settings',
  operationId: 'setSimpleSettings',
  summary: 'Update the settings of passwords',
  description:
    'Turns signing in with a password on or off. It can be off only while users can sign in through an OpenID provider.',
  http: { method: 'POST', url: '/api/admin/auth/simple/settings' },
  permission: 'ADMIN',
  idempotent: true,
  body: PasswordSettings,
  reply: PasswordSettings,
  errors: ['ValidationError', 'InvalidOperationError'],
});

export const SetScimSettings = defineOperation({
  subject: 'call.gateway.set-scim-settings',
  summary: 'Update the settings of SCIM',
  description: 'Turns SCIM on or off. Turning it on for the first time creates the token, which is shown this once.',
  http: { method: 'POST', url: '/api/admin/scim-settings' },
  permission: 'ADMIN',
  body: ScimSettingsBody,
  reply: SavedScimSettings,
});
