import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import type { Subject } from './subject.ts';

/**
 * What became of a write. `acknowledged`: the answer was a success. `refused`: a client error, which none of these writes is.
 * The others were answered 5xx or not at all. `unknown`: it may have happened or not. `found`: a read afterwards showed that it
 * happened. `absent`: a read afterwards showed that it did not, and from then on it must never happen.
 */
export type Outcome = 'acknowledged' | 'refused' | 'unknown' | 'found' | 'absent';

/** Whether a write with this outcome is certain to have happened. */
export const hasHappened = (outcome: Outcome): boolean => outcome === 'acknowledged' || outcome === 'found';

/** One write, as its writer remembers it. */
export interface Entry {
  readonly project: string;
  /** the project or the flag, which has this one writer and goes through one sequence of writes */
  readonly subject: string;
  readonly what: string;
  readonly at: string;
  readonly ms: number;
  readonly outcome: Outcome;
  readonly status: number;
  /** what was answered, when that was no success */
  readonly said?: string;
  /** the events that it tells when it happens, by producer; see `spelled` */
  readonly tells: readonly string[];
  /** what is there when it has happened */
  readonly then: Subject;
}

/** A file of one writer's own. A line is on the disk before the next write begins. */
export const openLedger = (file: string): { write(entry: Entry): void; close(): void } => {
  const handle = openSync(file, 'a', 0o600);
  return {
    write: (entry) => {
      writeSync(handle, `${JSON.stringify(entry)}\n`);
      fsyncSync(handle);
    },
    close: () => closeSync(handle),
  };
};

export const readLedger = (file: string): Entry[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Entry);
