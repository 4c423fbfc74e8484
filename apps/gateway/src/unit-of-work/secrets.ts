import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Database } from '@bunting/database';
import type { WriteContext } from '@bunting/outbox';
import { wildcard } from '../access/tokens/token.ts';

/** A new secret, and its masked form, which may be listed and logged. */
export interface NewSecret {
  readonly secret: string;
  readonly masked: string;
}

const publicDigits = 12;
const dots = '...';

/** Generates the 32 secret bytes of a secret with a public prefix. */
export type SecretBytesGenerator = (prefix: string) => Buffer;

const generateRandomSecretBytes: SecretBytesGenerator = () => randomBytes(32);

/** A secret of a public prefix, which is the scope and twelve random digits, and of secret bytes. */
function secretFor(scope: string, generateBytes: SecretBytesGenerator): NewSecret {
  const prefix = `${scope}${randomBytes(publicDigits / 2).toString('hex')}`;
  return { secret: `${prefix}${generateBytes(prefix).toString('hex')}`, masked: `${prefix}${dots}` };
}

export function regenerateSecret(masked: string, generateBytes: SecretBytesGenerator): string {
  const prefix = masked.slice(0, -dots.length);
  return `${prefix}${generateBytes(prefix).toString('hex')}`;
}

/**
 * Derives secret bytes from the idempotency key, so that a retry gets the same secret although it is stored nowhere. They cannot be computed without
 * the token key.
 */
export function derivedSecretBytesGenerator(
  hasher: SecretHasher,
  { scope, key, fingerprint }: NonNullable<WriteContext['idempotency']>,
): SecretBytesGenerator {
  return (prefix) => hasher(`secret ${JSON.stringify([prefix, scope, key, fingerprint])}`).hash;
}

function scopeOf(projects: readonly string[]): string {
  if (projects.includes(wildcard)) return wildcard;
  return projects.length === 1 ? (projects[0] as string) : '[]';
}

/** A new secret of 256 random bits behind twelve public digits, in Unleash's format. */
export function newTokenSecret(
  projects: readonly string[],
  environment: string,
  generateBytes: SecretBytesGenerator = generateRandomSecretBytes,
): NewSecret {
  return secretFor(`${scopeOf(projects)}:${environment}.`, generateBytes);
}

export function newPatSecret(generateBytes: SecretBytesGenerator = generateRandomSecretBytes): NewSecret {
  return secretFor('user:', generateBytes);
}

export function newScimSecret(generateBytes: SecretBytesGenerator = generateRandomSecretBytes): NewSecret {
  return secretFor('scim:', generateBytes);
}
export function newLinkSecret(generateBytes: SecretBytesGenerator = generateRandomSecretBytes): NewSecret {
  return secretFor('', generateBytes);
}

/** The masked form of a secret that the operator chose: it must not contain any part of the secret. */
export function maskedConfiguredSecret(id: string): string {
  return `given-${id.slice(0, 8)}...`;
}

const algorithm = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;

/** Encrypts and authenticates with AES-256-GCM. @param key 32 bytes */
export function cipherWithKey(key: Buffer) {
  return {
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
  };
}
export type SecretCipher = ReturnType<typeof cipherWithKey>;

/** The cipher of the secrets of SDK tokens, under a key that HKDF-SHA-256 derives from the token key. */
function tokenCipher(tokenKey: string): SecretCipher {
  return cipherWithKey(Buffer.from(hkdfSync('sha256', tokenKey, '', 'bunting sdk token secrets', 32)));
}

interface Settings {
  readonly GATEWAY_READABLE_SDK_TOKENS: boolean;
  readonly GATEWAY_TOKEN_KEY?: string;
}

/**
 * The cipher of the settings; undefined when secrets are stored as hashes only.
 * @throws Error when GATEWAY_READABLE_SDK_TOKENS is set without GATEWAY_TOKEN_KEY
 */
export function configuredTokenCipher(settings: Settings): SecretCipher | undefined {
  if (!settings.GATEWAY_READABLE_SDK_TOKENS) return undefined;
  if (settings.GATEWAY_TOKEN_KEY === undefined) {
    throw new Error(
      'GATEWAY_READABLE_SDK_TOKENS=true requires GATEWAY_TOKEN_KEY: a key that is stored in the database would not protect the secrets in it.',
    );
  }
  return tokenCipher(settings.GATEWAY_TOKEN_KEY);
}

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

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

function hasherWith(key: Buffer): SecretHasher {
  return (text) => ({
    selector: hmac(key, `selector ${text}`).toString('hex', 0, 8),
    hash: hmac(key, `token ${text}`),
  });
}

function fingerprintOf(key: Buffer): Buffer {
  return hmac(key, 'fingerprint');
}

interface StoredKey {
  readonly value: Buffer | null;
  readonly fingerprint: Buffer;
}

/**
 * Opens the hasher with the key of the settings, or with a key that the first start generated and stored in the database.
 * @throws Error when the stored tokens were hashed with another key, so that none of them would be valid
 */
export function openSecretHasher(database: Database, configuredKey: string | undefined): Promise<SecretHasher> {
  return database.transaction(async ({ query }) => {
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
}
