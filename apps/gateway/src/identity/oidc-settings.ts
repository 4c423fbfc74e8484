import type { OidcSettings, OidcSettingsBody } from '@bunting/contracts';
import { badRequest } from '../domain/refusals.ts';
import type { GatewayConfig } from '../config.ts';
import type { StoredSetting } from '../persistence/identity/setting-repository.ts';
import { cipherWith } from '../persistence/tokens/token-cipher.ts';
import type { TokenHasher } from '../persistence/tokens/token-hasher.ts';

/** The settings of OpenID Connect as they are stored, without the secret. */
export type OidcValues = Omit<OidcSettings, 'enablePkce' | 'secret' | 'hasSecret' | 'isReadOnly'>;

/** The settings of OpenID Connect with the secret of the client. */
export interface OidcClientSettings extends OidcValues {
  readonly secret: string | undefined;
}

export const defaultOidcValues: OidcValues = {
  enabled: false,
  discoverUrl: '',
  clientId: '',
  autoCreate: false,
  emailDomains: '',
  defaultRootRole: 'Viewer',
  defaultRootRoleId: null,
  enableSingleSignOut: false,
  addGroupsScope: false,
  enableGroupSyncing: false,
  groupJsonPath: 'groups',
  acrValues: '',
  idTokenSigningAlgorithm: 'RS256',
  extraScopes: '',
  trustEmails: false,
};

/** The settings of the variables OIDC_*; undefined where OIDC_ENABLED is not set. */
export const configuredOidc = (config: GatewayConfig): OidcClientSettings | undefined =>
  config.OIDC_ENABLED === undefined
    ? undefined
    : {
        enabled: config.OIDC_ENABLED,
        discoverUrl: config.OIDC_DISCOVER_URL,
        clientId: config.OIDC_CLIENT_ID,
        secret: config.OIDC_CLIENT_SECRET,
        autoCreate: config.OIDC_AUTO_CREATE,
        emailDomains: config.OIDC_AUTO_CREATE_EMAIL_DOMAINS,
        defaultRootRole: config.OIDC_DEFAULT_ROOT_ROLE,
        defaultRootRoleId: null,
        enableSingleSignOut: config.OIDC_ENABLE_SINGLE_SIGN_OUT,
        addGroupsScope: config.OIDC_ADD_GROUPS_SCOPE,
        enableGroupSyncing: config.OIDC_ENABLE_GROUP_SYNCING,
        groupJsonPath: config.OIDC_GROUP_JSON_PATH,
        acrValues: config.OIDC_ACR_VALUES,
        idTokenSigningAlgorithm: config.OIDC_ID_TOKEN_SIGNING_ALGORITHM,
        extraScopes: config.OIDC_EXTRA_SCOPES,
        trustEmails: config.OIDC_TRUST_EMAILS,
      };

/** The associated data of the encryption of the client's secret. */
const boundTo = 'setting oidc';

/** Stores and reads the secret of the client, encrypted under a key that is derived from the token key. */
export const oidcSecrets = (hasher: TokenHasher) => {
  const cipher = cipherWith(hasher('key of the secrets in settings').hash);
  return {
    seal: (secret: string): Buffer => cipher.seal(secret, boundTo),
    open: (sealed: Buffer | null): string | undefined => (sealed === null ? undefined : cipher.open(sealed, boundTo)),
  };
};
export type OidcSecrets = ReturnType<typeof oidcSecrets>;

/** The stored settings with the secret; the defaults while nothing was stored. */
export const storedOidc = (
  stored: StoredSetting<Partial<OidcValues>> | undefined,
  secrets: OidcSecrets,
): OidcClientSettings => ({
  ...defaultOidcValues,
  ...stored?.value,
  secret: secrets.open(stored?.secret ?? null),
});

/** The settings in the form of responses, without the secret. */
export const shownOidc = ({ secret, ...values }: OidcClientSettings, isReadOnly: boolean): OidcSettings => ({
  ...values,
  enablePkce: true,
  secret: '',
  hasSecret: secret !== undefined && secret !== '',
  isReadOnly,
});

/**
 * The settings after a change. The stored secret is retained for the same client at the same provider only: otherwise it could be sent to
 * another host by changing the address.
 * @throws Refusal 400 for settings that are enabled and not complete
 */
export const changedOidc = (before: OidcClientSettings, body: OidcSettingsBody): OidcClientSettings => {
  const { secret, ...values } = body;
  const merged = { ...before, ...values, discoverUrl: (values.discoverUrl ?? before.discoverUrl).trim() };
  const isSameClient = merged.discoverUrl === before.discoverUrl && merged.clientId === before.clientId;
  const after = { ...merged, secret: secret || (isSameClient ? before.secret : undefined) };
  if (!after.enabled) return after;
  if (after.discoverUrl === '') throw badRequest('The address of the provider must be given', '/body/discoverUrl');
  if (after.clientId === '') throw badRequest('The id of the client must be given', '/body/clientId');
  if (after.enableGroupSyncing && after.groupJsonPath.trim() === '')
    throw badRequest('The path of the claim with the groups must be given', '/body/groupJsonPath');
  return after;
};
