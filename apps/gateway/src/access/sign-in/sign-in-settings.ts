import { Refusal, type SignInOptions } from '@bunting/contracts';
import type { GatewayConfig } from '../../config.ts';
import { cipherWithKey, type SecretHasher } from '../../unit-of-work/secrets.ts';
import { defaultOidcSettings, type OidcSettingsWithSecret } from '../oidc/oidc-settings.ts';
import type { settingReads, StoredSetting } from './setting-store.ts';

/** Milliseconds for which the form is cached, so that many requests without a session do not cause as many statements in the database. */
const cacheMs = 2_000;

interface SignInMethodsOptions extends Pick<EffectiveSignInSettings, 'arePasswordsDisabled' | 'oidc'> {
  readonly hasUsers: () => Promise<boolean>;
}

/**
 * Returns a function that returns the ways to sign in, for the 401 of the Admin API; while the database is unavailable, the last ones it
 * read.
 */
export function signInMethods({ arePasswordsDisabled, oidc, hasUsers }: SignInMethodsOptions) {
  let form: SignInOptions = { path: '/auth/simple/login', type: 'password', defaultHidden: false, options: [] };
  let expiresAt = 0;
  let isWithoutUsers = true;
  const refresh = async (): Promise<void> => {
    const [isOidcOn, defaultHidden] = [(await oidc()).enabled, await arePasswordsDisabled()];
    // Whether the last user was deleted is not asked again: no link is printed then.
    isWithoutUsers &&= !(await hasUsers());
    const option = { type: 'oidc', message: 'Sign in with OpenID Connect', path: '/auth/oidc/login' };
    form = {
      path: form.path,
      type: form.type,
      defaultHidden,
      options: isOidcOn ? [option] : [],
      ...(isWithoutUsers && { hasUsers: false }),
    };
  };
  let refreshing: Promise<void> = Promise.resolve();
  return async (): Promise<SignInOptions> => {
    if (performance.now() >= expiresAt) {
      expiresAt = performance.now() + cacheMs;
      refreshing = refresh().catch((error: unknown) => {
        if (!(error instanceof Refusal)) throw error;
      });
    }
    await refreshing;
    return form;
  };
}

/** The settings of the variables OIDC_*; undefined where OIDC_ENABLED is not set. */
function oidcSettingsOfConfig(config: GatewayConfig): OidcSettingsWithSecret | undefined {
  return config.OIDC_ENABLED === undefined
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
}

/** The stored settings with the secret; the defaults while nothing was stored. */
export function oidcSettingsOfRow(
  stored: StoredSetting<'oidc'> | undefined,
  secretCipher: OidcSecretCipher,
): OidcSettingsWithSecret {
  return {
    ...defaultOidcSettings,
    ...stored?.value,
    secret: secretCipher.open(stored?.secret ?? null),
  };
}

/** The associated data of the encryption: no other encrypted text under the same key can take the place of the client's secret. */
const associatedData = 'setting oidc';

/** Stores and reads the secret of the client, encrypted under a key that is derived from the token key. */
function oidcSecretCipher(hasher: SecretHasher) {
  const cipher = cipherWithKey(hasher('key of the secrets in settings').hash);
  return {
    seal: (secret: string): Buffer => cipher.seal(secret, associatedData),
    open: (sealed: Buffer | null): string | undefined =>
      sealed === null ? undefined : cipher.open(sealed, associatedData),
  };
}

export type OidcSecretCipher = ReturnType<typeof oidcSecretCipher>;

export interface EffectiveSignInSettingsOptions {
  readonly config: GatewayConfig;
  /** reads a stored setting; undefined while it was never stored */
  readonly read: ReturnType<typeof settingReads>['find'];
  readonly hasher: SecretHasher;
}

/** How users can sign in: by the variables OIDC_* if they are set, otherwise by what administrators stored. */
export function effectiveSignInSettings({ config, read, hasher }: EffectiveSignInSettingsOptions) {
  const configured = oidcSettingsOfConfig(config);
  const secretCipher = oidcSecretCipher(hasher);

  const oidc = async (): Promise<OidcSettingsWithSecret> =>
    configured ?? oidcSettingsOfRow(await read('oidc'), secretCipher);

  return {
    /** whether environment variables determine the settings of OpenID Connect */
    isReadOnly: configured !== undefined,
    /** encrypts and decrypts the secret of the client at the OpenID provider */
    secretCipher,
    oidc,
    /** Whether users cannot sign in with a password. They always can while OpenID Connect is off. */
    arePasswordsDisabled: async (): Promise<boolean> => {
      const simple = await read('simple');
      return simple?.value.disabled === true && (await oidc()).enabled;
    },
  };
}
export type EffectiveSignInSettings = ReturnType<typeof effectiveSignInSettings>;
