import type { Database } from '@bunting/database';
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** A token or another secret as it is stored: found by its selector, compared by its hash. Neither reveals the secret without the key. */
export interface HashedSecret {
  readonly selector: string;
  readonly hash: Buffer;
}

/**
 * Computes HMACs under the token key: of tokens, and of other texts, whose prefixes keep them apart from tokens: secrets of sessions and links,
 * and the purposes of keys and secrets that are derived from the token key (their `hash`).
 */
export type SecretHasher = (text: string) => HashedSecret;

const hmac = (key: Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

const hasherWith =
  (key: Buffer): SecretHasher =>
  (text) => ({ selector: hmac(key, `selector ${text}`).toString('hex', 0, 8), hash: hmac(key, `token ${text}`) });

const fingerprintOf = (key: Buffer): Buffer => hmac(key, 'fingerprint');

interface StoredKey {
  readonly value: Buffer | null;
  readonly fingerprint: Buffer;
}

/**
 * Opens the hasher with the key of the settings, or with a key that the first start generated and stored in the database.
 * @throws Error when the stored tokens were hashed with another key, so that none of them would be valid
 */
export const openSecretHasher = (database: Database, configuredKey: string | undefined): Promise<SecretHasher> =>
  database.transaction(async ({ query }) => {
    const candidateKey = configuredKey === undefined ? randomBytes(32) : Buffer.from(configuredKey);
    // Of concurrent starts, the second waits for the first and reads its key.
    const [stored] = await query<StoredKey>(
      `insert into gateway_secret (name, value, fingerprint) values ('token key', $1, $2)
       on conflict (name) do update set name = excluded.name returning value, fingerprint`,
      [configuredKey === undefined ? candidateKey : null, fingerprintOf(candidateKey)],
    );
    if (stored === undefined) throw new Error('The token key could not be stored in the table gateway_secret.');
    const key = configuredKey === undefined ? stored.value : candidateKey;
    if (key === null) {
      throw new Error(
        'GATEWAY_TOKEN_KEY is required: the tokens in this database were hashed with a key that is not kept in it.',
      );
    }
    if (!timingSafeEqual(fingerprintOf(key), stored.fingerprint)) {
      throw new Error(
        'GATEWAY_TOKEN_KEY is not the key that the tokens in this database were hashed with, so none of them would work. Set the one that was used before.',
      );
    }
    return hasherWith(key);
  });
