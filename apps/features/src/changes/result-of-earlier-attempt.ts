import type { AppliedChanges } from '@bunting/contracts';

/** By what one attempt to apply a change request is recognised when it is repeated. */
export interface AttemptIdentity {
  readonly id: number;
  /** null for a change request that was created before change requests had uids */
  readonly uid: string | null;
  readonly attempt: number;
  /** a hash of the changes and of where they are applied */
  readonly content: string;
}

/** The last attempt that was stored for the id of a change request, and its result. */
export interface EarlierAttempt {
  readonly uid: string | null;
  readonly attempt: number;
  /** null for results from before contents were stored */
  readonly content: string | null;
  /** null before the first result */
  readonly result: AppliedChanges | null;
}

const superseded: AppliedChanges = {
  outcome: 'conflict',
  conflicts: [{ code: 'superseded', message: 'Change request was applied or changed by someone else' }],
  inverse: [],
};

/**
 * The result to return without applying the changes: the stored one if the same changes have been applied or if it is of the same attempt,
 * and a conflict if a newer attempt stored another result. Undefined where the changes have to be applied.
 */
export const resultOfEarlierAttempt = (
  { uid, attempt, content }: Omit<AttemptIdentity, 'id'>,
  stored: EarlierAttempt,
): AppliedChanges | undefined => {
  // After the change requests service was restored from a backup it assigns the same ids a second time: another uid is another request.
  if (stored.result === null || stored.uid !== uid) return undefined;
  const isSame = stored.content === null || stored.content === content;
  if (isSame && stored.result.outcome === 'applied') return stored.result;
  if (stored.attempt > attempt) return superseded;
  return isSame && stored.attempt === attempt ? stored.result : undefined;
};
