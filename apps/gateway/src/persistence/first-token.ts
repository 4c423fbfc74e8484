import { systemCaller } from '@bunting/contracts';
import type { Telling } from '@bunting/outbox';
import { randomUUID } from 'node:crypto';
import { newTokenSecret, shownOfGiven } from './secrets.ts';
import { ApiToken } from './tables.ts';
import type { TokenHasher } from './token-key.ts';

const name = 'admin';

/**
 * Sees to it that there is an admin token: the given one, whenever it is not there yet; or, at the very first start, a
 * made-up one.
 * @returns the made-up one, which nobody can read anywhere afterwards
 */
export const ensureAdminToken = (
  work: Telling['work'],
  hasher: TokenHasher,
  given: string | undefined,
): Promise<string | undefined> =>
  work(null, async ({ em, query }, outbox) => {
    // Two replicas may start at once: one of them makes the token, and the other finds it.
    await query('select pg_advisory_xact_lock(hashtext($1))', ['first admin token']);
    const id = randomUUID();
    const { secret: token, shown } =
      given === undefined ? newTokenSecret(['*'], '*') : { secret: given, shown: shownOfGiven(id) };
    const { selector, hash } = hasher(token);
    const there = await em.count(ApiToken, given === undefined ? {} : { selector });
    if (there > 0) return undefined;

    const createdAt = new Date();
    await em.insert(ApiToken, {
      id,
      kind: 'admin',
      name,
      selector,
      hash,
      shown,
      userId: null,
      projects: ['*'],
      environment: '*',
      createdAt,
      expiresAt: null,
      revokedAt: null,
    });
    outbox.event({
      type: 'api-token-created',
      createdAt: createdAt.toISOString(),
      createdBy: systemCaller.name,
      createdByUserId: systemCaller.id,
      project: null,
      environment: null,
      featureName: null,
      data: { tokenName: name, type: 'admin', projects: ['*'], environment: '*', createdAt: createdAt.toISOString() },
      preData: null,
      tags: [],
    });
    return given === undefined ? token : undefined;
  });
