import { createHash } from 'node:crypto';
import { Refusal } from '@bunting/contracts';
import { type Log, startLoop } from '@bunting/runtime';
import { Counter, Gauge, type Registry } from 'prom-client';
import { scopeKeyOf } from '../token-scope.ts';
import type { OriginState } from '../origin-state.ts';
import { checkedFiles, type Files, reasonOf, UnusableFileError } from './checked-files.ts';

export interface SnapshotOptions {
  readonly folder: string;
  readonly log: Log;
  readonly metrics: Registry;
  /** the file system, for tests */
  readonly files?: Files;
  /** milliseconds between two writes while states follow each other */
  readonly minIntervalMs?: number;
}

const format = 'bunting-snapshot';
const version = 1;
const maxBytes = 1024 * 1024 * 1024;
const maxPauseMs = 60_000;

/** The file of a token, by a hash: a token is no file name. */
export function snapshotName(token: string): string {
  return `${createHash('sha256').update(token).digest('hex').slice(0, 40)}.${format}`;
}

function isState(value: unknown): value is Omit<OriginState, 'fetchedAt'> & { readonly fetchedAt: string } {
  const state = value as Partial<Record<keyof OriginState, unknown>> | null;
  return (
    typeof state === 'object' &&
    state !== null &&
    typeof state.token === 'string' &&
    typeof state.environment === 'string' &&
    Array.isArray(state.projects) &&
    Number.isSafeInteger(state.revision) &&
    Number.isSafeInteger(state.historyFrom) &&
    Array.isArray(state.features) &&
    Array.isArray(state.segments) &&
    typeof state.fetchedAt === 'string'
  );
}

/** What tells which of two states of a token is the later one. */
function aboutOf(state: OriginState) {
  const { revision, historyFrom } = state;
  return { revision, historyFrom, scope: createHash('sha256').update(scopeKeyOf(state)).digest('hex') };
}
type About = ReturnType<typeof aboutOf>;

/** Whether another edge on the same folder has written a later state. One of another environment or other projects is none. */
function isLater(written: Partial<About> | undefined, { revision, historyFrom, scope }: About): boolean {
  return written?.scope === scope && Number(written.historyFrom) >= historyFrom && Number(written.revision) > revision;
}

/**
 * What the origin delivered last, on the disk: a file per token, which only this user may read. An edge without its origin starts from it.
 * While the folder cannot be written, the edge goes on: the newest states are written once it can.
 */
export function openSnapshots({ folder, log, metrics, files, minIntervalMs = 1_000 }: SnapshotOptions) {
  const checked = checkedFiles(folder, { format, version, maxBytes }, files);
  const registers = [metrics];
  const isWritten = new Gauge({
    name: 'bunting_edge_snapshots_written',
    help: '1 if the newest states are on the disk; 0 while they cannot be written',
    registers,
  });
  isWritten.set(1);
  const failures = new Counter({
    name: 'bunting_edge_snapshot_write_failures_total',
    help: 'failed attempts to write or remove a snapshot',
    registers,
  });
  const leftOut = new Counter({
    name: 'bunting_edge_snapshots_left_out_total',
    help: 'snapshots that could not be used at the start',
    registers,
  });
  leftOut.inc(0);

  /** by token: the state to write, or null to remove the file */
  const pending = new Map<string, OriginState | null>();
  let attempted = Promise.withResolvers<void>();
  /** files that cannot be used, whatever their headers say */
  const unusable = new Set<string>();
  let isPrepared = false;

  const save = async (token: string, state: OriginState | null): Promise<void> => {
    const name = snapshotName(token);
    if (state === null) return checked.remove(name);
    const about = aboutOf(state);
    const written = unusable.has(name) ? undefined : await checked.about(name).catch(() => undefined);
    if (isLater(written, about)) return;
    await checked.write(name, state, about);
    unusable.delete(name);
  };
  const savePending = async (): Promise<void> => {
    const settle = attempted;
    attempted = Promise.withResolvers();
    try {
      if (pending.size > 0 && !isPrepared) await checked.prepare();
      isPrepared ||= pending.size > 0;
      for (const [token, state] of pending) {
        await save(token, state);
        if (pending.get(token) === state) pending.delete(token);
      }
      isWritten.set(1);
    } catch (error) {
      failures.inc();
      isWritten.set(0);
      isPrepared = false;
      const { code, message } = error as NodeJS.ErrnoException;
      throw new Refusal(
        'ServiceUnavailable',
        `${folder} cannot be written (${code ?? message}). The edge goes on without; after a restart it would begin with an earlier state.`,
      );
    } finally {
      settle.resolve();
    }
  };
  const loop = startLoop({
    name: 'Writing snapshots',
    run: savePending,
    intervalMs: maxPauseMs,
    minIntervalMs,
    burst: 1,
    maxBackoffMs: 5_000,
    log,
  });
  const queue = (token: string, state: OriginState | null): Promise<void> => {
    pending.set(token, state);
    const { promise } = attempted;
    loop.wake();
    return promise;
  };

  return {
    /** The states in the folder. Files that cannot be used are left out, with a line in the log each. */
    read: async (): Promise<readonly OriginState[]> => {
      const states: OriginState[] = [];
      const names = await checked
        .prepare()
        .then(checked.names)
        .catch((error: unknown) => {
          log.warn(`The folder ${folder} of the snapshots ${reasonOf(error)}. The edge starts without.`);
          return [];
        });
      for (const name of names) {
        try {
          const state = await checked.read(name);
          if (!isState(state)) throw new UnusableFileError('is no state of an origin');
          if (snapshotName(state.token) !== name) throw new UnusableFileError('is that of another token');
          states.push({ ...state, fetchedAt: new Date(state.fetchedAt) });
        } catch (error) {
          leftOut.inc();
          unusable.add(name);
          log.warn(
            `The snapshot ${name} in ${folder} ${reasonOf(error)}. It is left out, and replaced by the next state.`,
          );
        }
      }
      return states;
    },
    /**
     * Writes the newest state of a token, unless another edge has written a later one of the same environment and projects. Resolves when that
     * was tried: a failure is logged and tried again, and never thrown.
     */
    write: (state: OriginState): Promise<void> => queue(state.token, state),
    /** Removes what is kept of a token, as `write` writes it. */
    remove: (token: string): Promise<void> => queue(token, null),
    /** Writes what is pending once more. */
    close: async (): Promise<void> => {
      await loop.stop();
      if (pending.size > 0) await savePending().catch(() => undefined);
    },
  };
}
export type Snapshots = ReturnType<typeof openSnapshots>;
