import { systemCaller } from '@bunting/contracts';
import type { Tx } from '@bunting/database';
import type { Outbox, Telling } from '@bunting/outbox';
import { randomUUID } from 'node:crypto';
import type { GivenToken, GivenTokens } from '../domain/given-tokens.ts';
import { newTokenSecret, shownOfGiven } from './secrets.ts';
import { ApiToken } from './tables.ts';
import type { TokenHasher } from './token-key.ts';

const everything = { kind: 'admin', projects: ['*'], environment: '*' } as const;

const add = async (
  { em }: Tx,
  outbox: Outbox,
  hasher: TokenHasher,
  { secret, shown, kind, projects, environment }: GivenToken & { readonly shown?: string },
): Promise<void> => {
  const id = randomUUID();
  const createdAt = new Date();
  const { selector, hash } = hasher(secret);
  await em.insert(ApiToken, {
    id,
    kind,
    name: kind,
    selector,
    hash,
    shown: shown ?? shownOfGiven(id),
    userId: null,
    projects: [...projects],
    environment,
    createdAt,
    expiresAt: null,
    revokedAt: null,
  });
  const at = createdAt.toISOString();
  outbox.event({
    type: 'api-token-created',
    createdAt: at,
    createdBy: systemCaller.name,
    createdByUserId: systemCaller.id,
    project: projects[0] === '*' ? null : (projects[0] ?? null),
    environment: environment === '*' ? null : environment,
    featureName: null,
    data: { tokenName: kind, type: kind, projects: [...projects], environment, createdAt: at },
    preData: null,
    tags: [],
  });
};

/**
 * Sees to it that there is an admin token. The one that is always given is added whenever it is not there yet. Where there is no token at
 * all, those are made that are given for a first start; and without any admin token among them, a made-up one.
 * @returns the made-up one, which nobody can read anywhere afterwards
 */
export const ensureFirstTokens = (
  work: Telling['work'],
  hasher: TokenHasher,
  { always, first }: GivenTokens,
): Promise<string | undefined> =>
  work(null, async (tx, outbox) => {
    // Two replicas may start at once: one of them makes the tokens, and the other finds them.
    await tx.query('select pg_advisory_xact_lock(hashtext($1))', ['first admin token']);
    const isFirst = (await tx.em.count(ApiToken, { kind: { $ne: 'user' } })) === 0;
    const known = new Set<string>();
    for (const token of isFirst ? first : []) {
      if (known.has(token.secret) || token.secret === always) continue;
      known.add(token.secret);
      await add(tx, outbox, hasher, token);
    }
    if (always !== undefined) {
      const there = await tx.em.count(ApiToken, { selector: hasher(always).selector });
      if (there === 0) await add(tx, outbox, hasher, { ...everything, secret: always });
      return undefined;
    }
    if (!isFirst || first.some(({ kind }) => kind === 'admin')) return undefined;
    const made = newTokenSecret(['*'], '*');
    await add(tx, outbox, hasher, { ...everything, ...made });
    return made.secret;
  });
