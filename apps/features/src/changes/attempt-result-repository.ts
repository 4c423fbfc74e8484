import type { AppliedChanges } from '@bunting/contracts';
import type { Tx } from '@bunting/database';
import { type AttemptIdentity, resultOfEarlierAttempt, type EarlierAttempt } from './result-of-earlier-attempt.ts';
import { AppliedChangeRequestEntity, sql } from '../unit-of-work/entities.ts';
import { insertIfAbsent } from '../unit-of-work/insert-if-absent.ts';

const findForUpdate = `
  select ${sql.selectOf(AppliedChangeRequestEntity, 'applied_change_request')}
  from applied_change_request where id = $1 for update`;

/** The results of attempts to apply change requests, within a transaction. */
export const attemptResultRepository = (tx: Tx) => ({
  /**
   * Locks a change request against other attempts to apply it. Returns the result to return without applying the changes, and
   * undefined where they have to be applied, as `resultOfEarlierAttempt` decides.
   */
  lockAndFindEarlier: async ({ id, ...attempt }: AttemptIdentity): Promise<AppliedChanges | undefined> => {
    await insertIfAbsent(tx, AppliedChangeRequestEntity, { id, attempt: 0, result: null });
    const [row] = await tx.query<EarlierAttempt>(findForUpdate, [id]);
    return row && resultOfEarlierAttempt(attempt, row);
  },

  store: async ({ id, ...attempt }: AttemptIdentity, result: AppliedChanges): Promise<void> => {
    await tx.em.nativeUpdate(AppliedChangeRequestEntity, { id }, { ...attempt, result });
  },
});
