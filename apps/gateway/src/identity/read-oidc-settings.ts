import type { GatewayConfig } from '../config.ts';
import { defaultOidcValues, type OidcClientSettings } from '../domain/identity/oidc-settings.ts';
import type { StoredSetting } from '../persistence/identity/setting-repository.ts';
import { cipherWith } from '../persistence/tokens/token-cipher.ts';
import type { TokenHasher } from '../persistence/tokens/token-hasher.ts';

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
export const storedOidc = (stored: StoredSetting<'oidc'> | undefined, secrets: OidcSecrets): OidcClientSettings => ({
  ...defaultOidcValues,
  ...stored?.value,
  secret: secrets.open(stored?.secret ?? null),
});
