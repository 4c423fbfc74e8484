import { createHash } from 'node:crypto';
import * as nodeFiles from 'node:fs/promises';
import path from 'node:path';
import { type ClientFeature, Refusal } from '@bunting/contracts';
import { type LoadedList, UnknownListError } from '@bunting/delivery';
import { type Log, startLoop } from '@bunting/runtime';
import { Counter, Gauge, type Registry } from 'prom-client';
import { scopeKeyOf } from '../token-scope.ts';
import { OriginFeature } from '../origin-feature.ts';
import type { OriginState } from '../origin-state.ts';
import { type EdgeLists, rootsOf } from '../segment-lists/edge-lists.ts';
import { featureJson } from '../upstream/feature-json.ts';
import { blockFiles } from './block-files.ts';
import { checkedFiles, type Files, NewerFileError, reasonOf, UnusableFileError } from './checked-files.ts';

/** A state, with the lists that it needs: they may have left the memory when it is written. */
interface PendingState {
  readonly state: OriginState;
  readonly loaded: ReadonlyMap<string, LoadedList>;
}

export interface SnapshotOptions {
  readonly folder: string;
  /** where the lists of the states are in memory */
  readonly lists: Pick<EdgeLists, 'find' | 'load' | 'maxBytes'>;
  readonly log: Log;
  readonly metrics: Registry;
  /** the file system, for tests */
  readonly files?: Files;
  /** milliseconds between two writes while states follow each other */
  readonly minIntervalMs?: number;
  /** milliseconds for which blocks of lists are kept that no snapshot names */
  readonly keptBlocksMs?: number;
}

const format = 'bunting-snapshot';
const version = 1;
const maxBytes = 1024 * 1024 * 1024;
const maxPauseMs = 60_000;
/** How many times as much of lists may be on the disk as in memory: of old ones, and those of other edges on the folder. */
const diskShare = 4;

/** The file of a token, by a hash: a token is no file name. */
export function snapshotName(token: string): string {
  return `${createHash('sha256').update(token).digest('hex').slice(0, 40)}.${format}`;
}

function storedFeatures(): ReturnType<typeof featureJson> {
  return featureJson((json) => new OriginFeature(JSON.parse(json) as ClientFeature));
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
    state.features.every((feature) => feature instanceof OriginFeature) &&
    Array.isArray(state.segments) &&
    typeof state.fetchedAt === 'string'
  );
}

/** The longest text of roots in a header. Beyond, it says that it needs all that there is. */
const maxRootsLength = 48 * 1024;
const allRoots = '*';
/** What tells which of two states of a token is the later one, and which lists it needs. */
function aboutOf(state: OriginState) {
  const { revision, historyFrom } = state;
  const scope = createHash('sha256').update(scopeKeyOf(state)).digest('hex');
  const lists = [...new Set(rootsOf(state.segments))].join();
  return { revision, historyFrom, scope, lists: lists.length > maxRootsLength ? allRoots : lists };
}
function rootsIn(about: { readonly lists?: unknown } | undefined): readonly string[] {
  const { lists } = about ?? {};
  return typeof lists === 'string' && lists !== '' ? lists.split(',') : [];
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
export function openSnapshots(options: SnapshotOptions) {
  const { folder, lists, log, metrics, files = nodeFiles, minIntervalMs = 1_000 } = options;
  const checked = checkedFiles(folder, { format, version, maxBytes }, files);
  const blocks = blockFiles({
    folder: path.join(folder, 'lists'),
    files,
    maxBytes: diskShare * lists.maxBytes,
    ...(options.keptBlocksMs === undefined ? {} : { keptMs: options.keptBlocksMs }),
  });
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

  /** by token: the state to write, with its lists, or null to remove the file */
  const pending = new Map<string, PendingState | null>();
  let attempted = Promise.withResolvers<void>();
  /** files that cannot be used, whatever their headers say */
  const unusable = new Set<string>();
  let isPrepared = false;

  /** whether there may be blocks on the disk that no snapshot needs */
  let mayHaveUnneeded = true;

  const save = async (token: string, pendingState: PendingState | null): Promise<void> => {
    const name = snapshotName(token);
    if (pendingState === null) {
      mayHaveUnneeded = true;
      return checked.remove(name);
    }
    const { state, loaded } = pendingState;
    const about = aboutOf(state);
    const written = unusable.has(name) ? undefined : await checked.about(name).catch(() => undefined);
    if (isLater(written, about)) return;
    for (const [root, list] of loaded) await blocks.writeList(root, list);
    await checked.write(name, state, about);
    unusable.delete(name);
    mayHaveUnneeded ||= written?.['lists'] !== about.lists;
  };
  /** The roots that the snapshots in the folder name, of whichever edge; undefined where one of them does not tell. */
  const neededRoots = async (): Promise<readonly string[] | undefined> => {
    const roots = new Set<string>();
    for (const name of await checked.names()) {
      try {
        for (const root of rootsIn(await checked.about(name))) roots.add(root);
      } catch (error) {
        if (error instanceof NewerFileError || !(error instanceof UnusableFileError)) return undefined;
      }
    }
    return roots.has(allRoots) ? undefined : [...roots];
  };
  /** Removes the blocks that no snapshot in the folder needs. */
  const sweep = async (): Promise<void> => {
    if (mayHaveUnneeded) mayHaveUnneeded = await blocks.sweep(await neededRoots());
  };
  const savePending = async (): Promise<void> => {
    const settle = attempted;
    attempted = Promise.withResolvers();
    try {
      if (pending.size > 0 && !isPrepared) await checked.prepare();
      isPrepared ||= pending.size > 0;
      // Before writing, so that what is not needed takes no place.
      if (isPrepared) await sweep();
      // What one of them meets holds up no other; first what frees space.
      let failure: { readonly error: unknown } | undefined;
      const removedFirst = [...pending].sort(([, one], [, other]) => Number(one !== null) - Number(other !== null));
      for (const [token, state] of removedFirst) {
        try {
          await save(token, state);
          if (pending.get(token) === state) pending.delete(token);
        } catch (error) {
          failure ??= { error };
        }
      }
      if (failure !== undefined) throw failure.error;
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
  const queue = (token: string, state: PendingState | null): Promise<void> => {
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
          const state = await checked.read(name, storedFeatures());
          if (!isState(state)) throw new UnusableFileError('is no state of an origin');
          if (snapshotName(state.token) !== name) throw new UnusableFileError('is that of another token');
          for (const root of rootsOf(state.segments)) await lists.load(root, blocks.fetch);
          states.push({ ...state, fetchedAt: new Date(state.fetchedAt) });
        } catch (error) {
          leftOut.inc();
          unusable.add(name);
          const reason =
            error instanceof UnknownListError
              ? `needs a list that is not there: ${error.message}`
              : `${reasonOf(error)}.`;
          log.warn(`The snapshot ${name} in ${folder} ${reason} It is left out, and replaced by the next state.`);
        }
      }
      return states;
    },
    /**
     * Writes the newest state of a token, unless another edge has written a later one of the same environment and projects. Resolves when that
     * was tried: a failure is logged and tried again, and never thrown.
     */
    write: (state: OriginState): Promise<void> => {
      const loaded = new Map<string, LoadedList>();
      for (const root of rootsOf(state.segments)) {
        const list = lists.find(root);
        if (list !== undefined) loaded.set(root, list);
      }
      return queue(state.token, { state, loaded });
    },
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
