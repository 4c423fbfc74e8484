import type { GatewayConfig } from '../config.ts';
import type { OidcClientSettings } from '../domain/identity/oidc-settings.ts';
import type { settingReads } from '../persistence/setting-repository.ts';
import type { SecretHasher } from '../persistence/tokens/secret-hasher.ts';
import { oidcSecretCipher } from './oidc-secret-cipher.ts';
import { oidcSettingsOfConfig, oidcSettingsOfRow } from './oidc-settings-sources.ts';
import { type OpenIdProvider, openIdProvider } from './openid-provider.ts';

export interface SignInSettingsOptions {
  readonly config: GatewayConfig;
  /** reads a stored setting; undefined while it was never stored */
  readonly read: ReturnType<typeof settingReads>['find'];
  readonly hasher: SecretHasher;
  readonly warn: (message: string) => void;
}

/** The settings of OpenID Connect (the variables OIDC_*, or what administrators stored), and those of SCIM and passwords. */
export const signInSettings = ({ config, read, hasher, warn }: SignInSettingsOptions) => {
  const configured = oidcSettingsOfConfig(config);
  const secretCipher = oidcSecretCipher(hasher);
  let cachedScim: { readonly setting: ReturnType<typeof readScim>; readonly expiresAt: number } | undefined;
  const readScim = () => read('scim');
  let currentProvider: { readonly key: string; readonly provider: OpenIdProvider } | undefined;

  const oidc = async (): Promise<OidcClientSettings> =>
    configured ?? oidcSettingsOfRow(await read('oidc'), secretCipher);

  return {
    /** whether environment variables determine the settings of OpenID Connect */
    isReadOnly: configured !== undefined,
    /** encrypts and decrypts the secret of the client at the OpenID provider */
    secretCipher,
    /** The settings of OpenID Connect with the secret of the client. */
    oidc,
    /** The provider that users sign in through; undefined while that is off. */
    provider: async (): Promise<OpenIdProvider | undefined> => {
      const settings = await oidc();
      if (!settings.enabled) return undefined;
      const key = JSON.stringify(settings);
      if (currentProvider?.key !== key) currentProvider = { key, provider: openIdProvider(settings, warn) };
      return currentProvider.provider;
    },
    /**
     * The settings of SCIM, with the hash of the token; undefined while it was never turned on. Cached for `GATEWAY_TOKEN_CACHE_TTL_MS`, so
     * that requests with wrong tokens do not use connections of the pool.
     */
    readScim: (): ReturnType<typeof readScim> => {
      if (cachedScim !== undefined && cachedScim.expiresAt > performance.now()) return cachedScim.setting;
      const entry = { setting: readScim(), expiresAt: performance.now() + config.GATEWAY_TOKEN_CACHE_TTL_MS };
      cachedScim = entry;
      entry.setting.catch(() => {
        if (cachedScim === entry) cachedScim = undefined;
      });
      return entry.setting;
    },
    /** Drops the cached settings of SCIM; called when settings may have changed. */
    invalidate: (): void => void (cachedScim = undefined),
    /** Whether users cannot sign in with a password. They always can while OpenID Connect is off. */
    arePasswordsDisabled: async (): Promise<boolean> => {
      const simple = await read('simple');
      return simple?.value.disabled === true && (await oidc()).enabled;
    },
  };
};
export type SignInSettings = ReturnType<typeof signInSettings>;
