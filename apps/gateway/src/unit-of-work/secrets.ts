import type { WriteContext } from '@bunting/outbox';
import { randomBytes } from 'node:crypto';
import { wildcard } from '../domain/tokens/token-scope.ts';
import type { SecretHasher } from '../persistence/secrets/secret-hasher.ts';

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
const secretFor = (scope: string, generateBytes: SecretBytesGenerator): NewSecret => {
  const prefix = `${scope}${randomBytes(publicDigits / 2).toString('hex')}`;
  return { secret: `${prefix}${generateBytes(prefix).toString('hex')}`, masked: `${prefix}${dots}` };
};

/** Regenerates a secret from its masked form and the generator of its bytes. */
export const regenerateSecret = (masked: string, generateBytes: SecretBytesGenerator): string => {
  const prefix = masked.slice(0, -dots.length);
  return `${prefix}${generateBytes(prefix).toString('hex')}`;
};

/**
 * Derives secret bytes from the idempotency key, so that a retry gets the same secret although it is stored nowhere. They cannot be computed without
 * the token key.
 */
export const derivedSecretBytesGenerator =
  (hasher: SecretHasher, { scope, key, fingerprint }: NonNullable<WriteContext['idempotency']>): SecretBytesGenerator =>
  (prefix) =>
    hasher(`secret ${JSON.stringify([prefix, scope, key, fingerprint])}`).hash;

const scopeOf = (projects: readonly string[]): string => {
  if (projects.includes(wildcard)) return wildcard;
  return projects.length === 1 ? (projects[0] as string) : '[]';
};

/** A new secret of 256 random bits behind twelve public digits, in Unleash's format. */
export const newTokenSecret = (
  projects: readonly string[],
  environment: string,
  generateBytes: SecretBytesGenerator = generateRandomSecretBytes,
): NewSecret => secretFor(`${scopeOf(projects)}:${environment}.`, generateBytes);

/** A new secret of a PAT, for a user or a service account. */
export const newPatSecret = (generateBytes: SecretBytesGenerator = generateRandomSecretBytes): NewSecret =>
  secretFor('user:', generateBytes);

/** A new token of SCIM. */
export const newScimSecret = (generateBytes: SecretBytesGenerator = generateRandomSecretBytes): NewSecret =>
  secretFor('scim:', generateBytes);
/** A new secret of a link that works once. */
export const newLinkSecret = (generateBytes: SecretBytesGenerator = generateRandomSecretBytes): NewSecret =>
  secretFor('', generateBytes);

/** The masked form of a secret that the operator chose: it must not contain any part of the secret. */
export const maskedConfiguredSecret = (id: string): string => `given-${id.slice(0, 8)}...`;
