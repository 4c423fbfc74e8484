import type { WriteContext } from '@bunting/outbox';
import { randomBytes } from 'node:crypto';
import type { TokenHasher } from './token-hasher.ts';

/** A secret that was just made: `shown` names it for people wherever the secret itself must not be told. */
export interface NewSecret {
  readonly secret: string;
  readonly masked: string;
}

const publicDigits = 12;
const dots = '...';

/** The 32 bytes of a secret that begins with these characters. */
export type SecretBytes = (named: string) => Buffer;

const randomSecret: SecretBytes = () => randomBytes(32);

const secretFor = (beginning: string, bytes: SecretBytes): NewSecret => {
  const named = `${beginning}${randomBytes(publicDigits / 2).toString('hex')}`;
  return { secret: `${named}${bytes(named).toString('hex')}`, masked: `${named}${dots}` };
};

/** The secret that is shown like that, made again of the same bytes. */
export const regenerateSecret = (shown: string, bytes: SecretBytes): string => {
  const named = shown.slice(0, -dots.length);
  return `${named}${bytes(named).toString('hex')}`;
};

/**
 * The bytes of a secret that a retry with the same `Idempotency-Key` must be given again, though it is stored nowhere: nobody makes them
 * without the key that tokens are hashed with.
 */
export const derivedSecretBytes =
  (hasher: TokenHasher, { scope, key, fingerprint }: NonNullable<WriteContext['idempotency']>): SecretBytes =>
  (named) =>
    hasher(`secret ${JSON.stringify([named, scope, key, fingerprint])}`).hash;

const scopeOf = (projects: readonly string[]): string => {
  if (projects.includes('*')) return '*';
  return projects.length === 1 ? (projects[0] as string) : '[]';
};

/** A new secret of 256 random bits behind twelve public digits, in the format that Unleash's clients know (admin-api.md 7.1). */
export const newTokenSecret = (
  projects: readonly string[],
  environment: string,
  bytes: SecretBytes = randomSecret,
): NewSecret => secretFor(`${scopeOf(projects)}:${environment}.`, bytes);

/** The same for a key that acts as a user or a service account. */
export const newUserSecret = (bytes: SecretBytes = randomSecret): NewSecret => secretFor('user:', bytes);

/** What stands for a secret that somebody chose: of its text nothing may be shown. */
export const maskedConfiguredSecret = (id: string): string => `given-${id.slice(0, 8)}...`;
