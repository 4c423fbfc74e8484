import { cipherWithKey } from '../persistence/secrets/secret-cipher.ts';
import type { SecretHasher } from '../persistence/secrets/secret-hasher.ts';

/** The associated data of the encryption: no other encrypted text under the same key can take the place of the client's secret. */
const associatedData = 'setting oidc';

/** Stores and reads the secret of the client, encrypted under a key that is derived from the token key. */
export const oidcSecretCipher = (hasher: SecretHasher) => {
  const cipher = cipherWithKey(hasher('key of the secrets in settings').hash);
  return {
    seal: (secret: string): Buffer => cipher.seal(secret, associatedData),
    open: (sealed: Buffer | null): string | undefined =>
      sealed === null ? undefined : cipher.open(sealed, associatedData),
  };
};

export type OidcSecretCipher = ReturnType<typeof oidcSecretCipher>;
