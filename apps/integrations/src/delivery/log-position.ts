import type { ReadEventLog, ReplyOf } from '@bunting/contracts';

/** A position in the event log, with the hash of the log up to there; null before its first event. */
export interface LogPosition {
  readonly position: number;
  readonly hash: string | null;
}

export type LogPage = ReplyOf<typeof ReadEventLog>;

/** Whether the log is another one than the one that was read up to a position, as after a restored backup. */
export function isOtherLog({ head, at }: LogPage, { position, hash }: LogPosition): boolean {
  return head < position || (at !== null && hash !== null && at !== hash);
}

/**
 * The position to continue from after the log was restored from a backup: the last mark whose hash the log still has. What comes after it may
 * have other ids now, and is read again.
 * @param marks positions with their hashes, by id
 */
export async function positionInRestoredLog(
  marks: readonly { readonly id: number; readonly hash: string }[],
  readLog: (after: number, limit: number) => Promise<LogPage>,
): Promise<LogPosition> {
  let [low, high] = [0, marks.length];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const mark = marks[middle];
    const { at, head } = await readLog(mark?.id ?? 0, 0);
    const isKnown = mark !== undefined && mark.id <= head && (at === null || at === mark.hash);
    if (isKnown) low = middle + 1;
    else high = middle;
  }
  const mark = marks[low - 1];
  return mark === undefined ? { position: 0, hash: null } : { position: mark.id, hash: mark.hash };
}
