import { systemCaller } from '@bunting/contracts';
import type { Tx } from '@bunting/database';
import { LockMode, raw } from '@mikro-orm/postgresql';
import type { Outbox, OutboxProducer } from '@bunting/outbox';
import { randomUUID } from 'node:crypto';
import type { ConfiguredToken, ConfiguredTokens } from '../../domain/tokens/configured-tokens.ts';
import { TokenEntity } from '../entities.ts';
import { newTokenSecret, maskedConfiguredSecret } from './token-secret.ts';
import type { TokenCipher } from './token-cipher.ts';
import type { TokenHasher } from './token-hasher.ts';

const everything = { kind: 'admin', projects: ['*'], environment: '*' } as const;

const emit = (
  outbox: Outbox,
  type: 'api-token-created' | 'api-token-deleted',
  { kind, projects, environment }: Omit<ConfiguredToken, 'secret'>,
  createdAt: string,
): void => {
  const [project = '*'] = projects;
  const token = { tokenName: kind, type: kind, projects: [...projects], environment, createdAt };
  outbox.emit([
    {
      type,
      createdAt: new Date().toISOString(),
      createdBy: systemCaller.name,
      createdByUserId: systemCaller.id,
      project: project === '*' ? null : project,
      environment: environment === '*' ? null : environment,
      featureName: null,
      data: type === 'api-token-created' ? token : null,
      preData: type === 'api-token-created' ? null : token,
      tags: [],
    },
  ]);
};

/** Tokens are stored hashed; secrets of SDK tokens also encrypted, if there is a cipher. */
export interface TokenProtection {
  readonly hasher: TokenHasher;
  readonly cipher: TokenCipher | undefined;
}

type NewConfiguredToken = ConfiguredToken & { readonly shown?: string; readonly configured?: 'current' };

const add = async (
  { em }: Tx,
  outbox: Outbox,
  { hasher, cipher }: TokenProtection,
  token: NewConfiguredToken,
): Promise<void> => {
  const { secret, shown, configured, kind, projects, environment } = token;
  const id = randomUUID();
  const createdAt = new Date().toISOString();
  const { selector, hash } = hasher(secret);
  await em.insert(TokenEntity, {
    id,
    kind,
    name: kind,
    selector,
    hash,
    shown: shown ?? maskedConfiguredSecret(id),
    sealed: kind === 'admin' ? null : (cipher?.seal(secret, selector) ?? null),
    user: null,
    projects: [...projects],
    environment,
    createdAt,
    expiresAt: null,
    revokedAt: null,
    configured: configured ?? null,
  });
  emit(outbox, 'api-token-created', token, createdAt);
};

/**
 * Makes the token of `BUNTING_ADMIN_TOKEN` valid and revokes the tokens of earlier values of the setting. A token that an administrator has
 * revoked stays revoked, and then no other is revoked.
 */
const replaceConfigured = async (
  tx: Tx,
  outbox: Outbox,
  protection: TokenProtection,
  secret: string,
  warn: (message: string) => void,
): Promise<void> => {
  const { selector } = protection.hasher(secret);
  const lockMode = LockMode.PESSIMISTIC_WRITE;
  const stored = await tx.em.findOne(TokenEntity, { selector }, { lockMode });
  if (stored !== null && stored.revokedAt !== null && stored.configured !== 'replaced') {
    return warn(`The token of BUNTING_ADMIN_TOKEN (${stored.shown}) was revoked and stays so: set another value.`);
  }
  const earlier = { configured: 'current', revokedAt: null, selector: { $ne: selector } } as const;
  for (const replaced of await tx.em.find(TokenEntity, earlier, { lockMode })) {
    tx.em.assign(replaced, { revokedAt: raw('now()'), configured: 'replaced' });
    emit(outbox, 'api-token-deleted', everything, replaced.createdAt);
    warn(
      `The gateway revoked the admin token ${replaced.shown} of an earlier value of BUNTING_ADMIN_TOKEN. Replace it where it is still used.`,
    );
  }
  await tx.em.flush();
  if (stored === null) return add(tx, outbox, protection, { ...everything, secret, configured: 'current' });
  if (stored.configured === 'current' || stored.kind !== 'admin') return;
  if (stored.revokedAt !== null) emit(outbox, 'api-token-created', everything, stored.createdAt);
  tx.em.assign(stored, { revokedAt: null, configured: 'current' });
  await tx.em.flush();
};

const warnOfConfigured = async ({ em }: Tx, warn: (message: string) => void): Promise<void> => {
  for (const { shown } of await em.find(TokenEntity, { configured: 'current', revokedAt: null })) {
    warn(
      `BUNTING_ADMIN_TOKEN is not set any more, but the admin token of its last value (${shown}) still works. ` +
        `If it is not needed, revoke it: DELETE /api/admin/api-tokens/${shown}`,
    );
  }
};

/**
 * Ensures the tokens of the settings. The token of `BUNTING_ADMIN_TOKEN` is added if it is missing, and replaces that of a previous value.
 * Without any token in the database, those for a first start are created; without an admin token among them, one is generated.
 * @returns the generated secret, which is stored nowhere
 */
export const ensureInitialTokens = (
  work: OutboxProducer['work'],
  protection: TokenProtection,
  { adminToken, initial }: ConfiguredTokens,
  warn: (message: string) => void,
): Promise<string | undefined> =>
  work(null, async (tx, outbox) => {
    // Replicas may start concurrently: one creates the tokens, the others find them.
    await tx.query('select pg_advisory_xact_lock(hashtext($1))', ['first admin token']);
    const isFirst = (await tx.em.count(TokenEntity, { kind: { $ne: 'user' } })) === 0;
    const addedSecrets = new Set<string>();
    for (const token of isFirst ? initial : []) {
      if (addedSecrets.has(token.secret) || token.secret === adminToken) continue;
      addedSecrets.add(token.secret);
      await add(tx, outbox, protection, token);
    }
    if (adminToken !== undefined) {
      await replaceConfigured(tx, outbox, protection, adminToken, warn);
      return undefined;
    }
    await warnOfConfigured(tx, warn);
    if (!isFirst || initial.some(({ kind }) => kind === 'admin')) return undefined;
    const made = newTokenSecret(['*'], '*');
    await add(tx, outbox, protection, { ...everything, ...made });
    return made.secret;
  });
