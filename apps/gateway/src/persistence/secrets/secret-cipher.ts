import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const algorithm = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;

/** Encrypts and authenticates with AES-256-GCM. @param key 32 bytes */
export const cipherWithKey = (key: Buffer) => ({
  /** @param associatedData such as the selector of a token: the result can be decrypted with the same data only */
  seal: (secret: string, associatedData: string): Buffer => {
    const iv = randomBytes(ivBytes);
    const cipher = createCipheriv(algorithm, key, iv).setAAD(Buffer.from(associatedData));
    const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
    return Buffer.concat([iv, cipher.getAuthTag(), text]);
  },
  /** The secret; undefined when it was sealed with another key or other associated data, or was altered. */
  open: (sealed: Buffer, associatedData: string): string | undefined => {
    const tag = sealed.subarray(ivBytes, ivBytes + tagBytes);
    if (tag.length < tagBytes) return undefined;
    const options = { authTagLength: tagBytes };
    const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, ivBytes), options)
      .setAAD(Buffer.from(associatedData))
      .setAuthTag(tag);
    try {
      return Buffer.concat([decipher.update(sealed.subarray(ivBytes + tagBytes)), decipher.final()]).toString('utf8');
    } catch {
      // One row that cannot be decrypted must not make the whole list of tokens fail.
      return undefined;
    }
  },
});
export type SecretCipher = ReturnType<typeof cipherWithKey>;

/** The cipher of the secrets of SDK tokens, under a key that HKDF-SHA-256 derives from the token key. */
const tokenCipher = (tokenKey: string): SecretCipher =>
  cipherWithKey(Buffer.from(hkdfSync('sha256', tokenKey, '', 'bunting sdk token secrets', 32)));

interface Settings {
  readonly GATEWAY_READABLE_SDK_TOKENS: boolean;
  readonly GATEWAY_TOKEN_KEY?: string;
}

/**
 * The cipher of the settings; undefined when secrets are stored as hashes only.
 * @throws Error when GATEWAY_READABLE_SDK_TOKENS is set without GATEWAY_TOKEN_KEY
 */
export const configuredTokenCipher = (settings: Settings): SecretCipher | undefined => {
  if (!settings.GATEWAY_READABLE_SDK_TOKENS) return undefined;
  if (settings.GATEWAY_TOKEN_KEY === undefined) {
    throw new Error(
      'GATEWAY_READABLE_SDK_TOKENS=true requires GATEWAY_TOKEN_KEY: a key that is stored in the database would not protect the secrets in it.',
    );
  }
  return tokenCipher(settings.GATEWAY_TOKEN_KEY);
};
