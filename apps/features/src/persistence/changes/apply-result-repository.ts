import type { AppliedChanges } from '@bunting/contracts';
import type { Tx } from '@bunting/database';
import { type ApplyAttempt, resultOfAttempt, type StoredAttempt } from '../../domain/changes/apply-attempt.ts';
import { AppliedChangeRequestEntity, sql } from '../entities.ts';
import { insertIfAbsent } from '../sql/insert-if-absent.ts';

const findForUpdate = `
  select ${sql.selectOf(AppliedChangeRequestEntity, 'applied_change_request')}
  from applied_change_request where id = $1 for update`;

/** The results of applying change requests, within a transaction. */
export const applyResultRepository = (tx: Tx) => ({
  /**
   * Locks a change request against other attempts to apply it. Returns the result to return without applying the changes, and
   * undefined where they have to be applied, as `resultOfAttempt` decides.
   */
  findResult: async ({ id, ...attempt }: ApplyAttempt): Promise<AppliedChanges | undefined> => {
    await insertIfAbsent(tx, AppliedChangeRequestEntity, { id, attempt: 0, result: null });
    const [row] = await tx.query<StoredAttempt>(findForUpdate, [id]);
    return row && resultOfAttempt(attempt, row);
  },

  storeResult: async ({ id, ...attempt }: ApplyAttempt, result: AppliedChanges): Promise<void> => {
    await tx.em.nativeUpdate(AppliedChangeRequestEntity, { id }, { ...attempt, result });
  },
});
