import { cipherWith } from '../persistence/tokens/token-cipher.ts';
import type { TokenHasher } from '../persistence/tokens/token-hasher.ts';

/** The associated data of the encryption of the client's secret. */
const boundTo = 'setting oidc';

/** Stores and reads the secret of the client, encrypted under a key that is derived from the token key. */
export const oidcSecretCipher = (hasher: TokenHasher) => {
  const cipher = cipherWith(hasher('key of the secrets in settings').hash);
  return {
    seal: (secret: string): Buffer => cipher.seal(secret, boundTo),
    open: (sealed: Buffer | null): string | undefined => (sealed === null ? undefined : cipher.open(sealed, boundTo)),
  };
};

export type OidcSecretCipher = ReturnType<typeof oidcSecretCipher>;
