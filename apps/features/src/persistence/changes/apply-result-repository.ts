import type { AppliedChanges } from '@bunting/contracts';
import type { Tx } from '@bunting/database';
import { AppliedChangeRequestEntity, sql } from '../entities.ts';
import { insertIfAbsent } from '../sql/insert-if-absent.ts';

/** One attempt to apply a change request. */
export interface ApplyAttempt {
  readonly id: number;
  /** null for a request from before requests had uids */
  readonly uid: string | null;
  readonly attempt: number;
  /** a hash of the changes and of where they are applied */
  readonly content: string;
}

interface StoredResult {
  readonly uid: string | null;
  readonly attempt: number;
  /** null for results from before contents were stored */
  readonly content: string | null;
  readonly result: AppliedChanges | null;
}

const superseded: AppliedChanges = {
  outcome: 'conflict',
  conflicts: [{ code: 'superseded', message: 'Change request was applied or changed by someone else' }],
  inverse: [],
};

const findForUpdate = `
  select ${sql.selectOf(AppliedChangeRequestEntity, 'applied_change_request')}
  from applied_change_request where id = $1 for update`;

/** The results of applying change requests, within a transaction. */
export const applyResultRepository = (tx: Tx) => ({
  /**
   * Locks a change request against other attempts to apply it. Returns the result that an equal or newer attempt stored, and
   * undefined where the changes are to be applied.
   */
  findResult: async ({ id, uid, attempt, content }: ApplyAttempt): Promise<AppliedChanges | undefined> => {
    await insertIfAbsent(tx, AppliedChangeRequestEntity, { id, attempt: 0, result: null });
    const [row] = await tx.query<StoredResult>(findForUpdate, [id]);
    // After the change requests service was restored from a backup it assigns the same ids a second time: another uid is another request.
    if (row === undefined || row.result === null || row.uid !== uid) return undefined;
    const isSame = row.content === null || row.content === content;
    if (isSame && row.result.outcome === 'applied') return row.result;
    if (row.attempt > attempt) return superseded;
    return isSame && row.attempt === attempt ? row.result : undefined;
  },

  storeResult: async ({ id, ...attempt }: ApplyAttempt, result: AppliedChanges): Promise<void> => {
    await tx.em.nativeUpdate(AppliedChangeRequestEntity, { id }, { ...attempt, result });
  },
});
