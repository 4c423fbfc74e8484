import type { GatewayConfig } from '../config.ts';
import { defaultOidcSettings, type OidcSettingsWithSecret } from '../access/oidc/oidc-settings.ts';
import type { StoredSetting } from '../access/sign-in/setting-store.ts';
import type { OidcSecretCipher } from './oidc-secret-cipher.ts';

/** The settings of the variables OIDC_*; undefined where OIDC_ENABLED is not set. */
export const oidcSettingsOfConfig = (config: GatewayConfig): OidcSettingsWithSecret | undefined =>
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

/** The stored settings with the secret; the defaults while nothing was stored. */
export const oidcSettingsOfRow = (
  stored: StoredSetting<'oidc'> | undefined,
  secretCipher: OidcSecretCipher,
): OidcSettingsWithSecret => ({
  ...defaultOidcSettings,
  ...stored?.value,
  secret: secretCipher.open(stored?.secret ?? null),
});
