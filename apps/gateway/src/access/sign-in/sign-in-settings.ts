import type { GatewayConfig } from '../../config.ts';
import type { OidcSettingsWithSecret } from '../oidc/oidc-settings.ts';
import { oidcSecretCipher } from '../../oidc/oidc-secret-cipher.ts';
import { oidcSettingsOfConfig, oidcSettingsOfRow } from '../../oidc/oidc-settings-sources.ts';
import type { settingReads } from './setting-store.ts';
import type { SecretHasher } from '../../persistence/secrets/secret-hasher.ts';

export interface EffectiveSignInSettingsOptions {
  readonly config: GatewayConfig;
  /** reads a stored setting; undefined while it was never stored */
  readonly read: ReturnType<typeof settingReads>['find'];
  readonly hasher: SecretHasher;
}

/** How users can sign in: by the variables OIDC_* if they are set, otherwise by what administrators stored. */
export const effectiveSignInSettings = ({ config, read, hasher }: EffectiveSignInSettingsOptions) => {
  const configured = oidcSettingsOfConfig(config);
  const secretCipher = oidcSecretCipher(hasher);

  const oidc = async (): Promise<OidcSettingsWithSecret> =>
    configured ?? oidcSettingsOfRow(await read('oidc'), secretCipher);

  return {
    /** whether environment variables determine the settings of OpenID Connect */
    isReadOnly: configured !== undefined,
    /** encrypts and decrypts the secret of the client at the OpenID provider */
    secretCipher,
    /** The settings of OpenID Connect with the secret of the client. */
    oidc,
    /** Whether users cannot sign in with a password. They always can while OpenID Connect is off. */
    arePasswordsDisabled: async (): Promise<boolean> => {
      const simple = await read('simple');
      return simple?.value.disabled === true && (await oidc()).enabled;
    },
  };
};
export type EffectiveSignInSettings = ReturnType<typeof effectiveSignInSettings>;
