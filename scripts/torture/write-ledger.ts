import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import type { Subject } from './subject-state.ts';

/**
 * The outcome of a write. `acknowledged`: a success. `refused`: a client error, which none of these writes should get. The others
 * got a 5xx or no response. `unknown`: it may have happened. `found`: a later read showed that it happened. `absent`: a later read
 * showed that it did not, and from then on it must never happen.
 */
export type WriteOutcome = 'acknowledged' | 'refused' | 'unknown' | 'found' | 'absent';

/** Whether a write with this outcome is certain to have happened. */
export const hasHappened = (outcome: WriteOutcome): boolean => outcome === 'acknowledged' || outcome === 'found';

/** One attempt of a write. */
export interface LedgerEntry {
  readonly project: string;
  /** the project or flag; it has one writer, which writes sequentially */
  readonly subject: string;
  readonly operation: string;
  readonly sentAt: string;
  readonly ms: number;
  readonly outcome: WriteOutcome;
  readonly status: number;
  /** the response or error, unless it was a success */
  readonly error?: string;
  /** the events that it emits if it happens, as `eventKey` writes them */
  readonly events: readonly string[];
  /** the state of the subject if it happens */
  readonly expected: Subject;
}

/** The ledger of one writer. Each entry is synced to disk before the next write begins. */
export const openLedger = (file: string): { write(entry: LedgerEntry): void; close(): void } => {
  const handle = openSync(file, 'a', 0o600);
  return {
    write: (entry) => {
      writeSync(handle, `${JSON.stringify(entry)}\n`);
      fsyncSync(handle);
    },
    close: () => closeSync(handle),
  };
};

export const readLedger = (file: string): LedgerEntry[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as LedgerEntry);
