import { type Loop, startLoop } from '@bunting/runtime';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { IndexFeed, IndexLock } from '../persistence/index-feed.ts';
import { idOf, type IndexDocument, indexDocumentOf, type IndexMarker, markerId } from './index-document.ts';
import type { MeilisearchClient } from './meilisearch-client.ts';
import { MeilisearchError } from './meilisearch-error.ts';

interface IndexUpdaterOptions {
  readonly uid: string;
  readonly server: MeilisearchClient;
  readonly feed: IndexFeed;
  /** milliseconds between polls for changed features */
  readonly intervalMs: number;
  /** milliseconds between checks of an index whose features do not change */
  readonly checkIntervalMs: number;
  readonly warn: (message: string) => void;
  readonly onUpdate: (done: IndexUpdate) => void;
}

/** An update of the index. */
export type IndexUpdate =
  | { readonly kind: 'updated'; readonly documents: number }
  | { readonly kind: 'built'; readonly documents: number; readonly durationMs: number }
  | { readonly kind: 'checked' };

const batchSize = 1_000;
/** The maximum number of writes that the server has accepted and not completed. */
const maxPendingTasks = 4;
const maxBackoffMs = 60_000;

const hasCode = (error: unknown, code: string): boolean => error instanceof MeilisearchError && error.code === code;

/**
 * Replicates the features in PostgreSQL to an index in Meilisearch: writes changes, detects when the index was lost or restored from
 * a backup, and rebuilds it beside the old one. One of several processes holds the lock; another takes over when it ends.
 */
export const startIndexUpdater = (options: IndexUpdaterOptions): Pick<Loop, 'stop'> => {
  const { uid, server, feed, intervalMs, checkIntervalMs, warn, onUpdate } = options;
  const next = `${uid}_next`;
  const stopping = new AbortController();
  let lock: IndexLock | undefined;
  let checkedAt = Number.NEGATIVE_INFINITY;

  const waitForTask = async (task: number): Promise<void> => {
    for (let pauseMs = 5; ; pauseMs = Math.min(500, pauseMs * 2)) {
      const outcome = await server.outcomeOf(task);
      if (outcome === 'succeeded') return;
      if (outcome !== undefined)
        throw new MeilisearchError('refused', `a task of it failed: ${outcome.failed}`, outcome.failed);
      await sleep(pauseMs, undefined, { signal: stopping.signal });
    }
  };

  const waitForTaskUnless = (code: string, task: Promise<number>): Promise<void> =>
    task.then(waitForTask).catch((error: unknown) => {
      if (!hasCode(error, code)) throw error;
    });

  /** Sends writes with a few of them waiting at a time; `finish` resolves once all are done. */
  const writer = () => {
    const pending: number[] = [];
    return {
      write: async (task: Promise<number>): Promise<void> => {
        pending.push(await task);
        while (pending.length > maxPendingTasks) await waitForTask(pending.shift() as number);
      },
      finish: async (): Promise<void> => {
        for (const task of pending.splice(0)) await waitForTask(task);
      },
    };
  };

  const build = async (snapshotXmin: string): Promise<void> => {
    const startedAt = performance.now();
    const generation = randomUUID();
    await waitForTaskUnless('index_not_found', server.drop(next));
    await waitForTask(await server.create(next));
    await waitForTask(await server.configure(next));
    const { write, finish } = writer();
    let documents = 0;
    for (let after: string | undefined = ''; after !== undefined;) {
      const batch = await feed.features(after, batchSize);
      if (batch.length > 0) await write(server.put(next, batch.map(indexDocumentOf)));
      documents += batch.length;
      after = batch.length < batchSize ? undefined : batch.at(-1)?.name;
    }
    const mark: IndexMarker = {
      id: markerId,
      generation,
      checkpointXid: snapshotXmin,
      settings: await server.settings(next),
    };
    await write(server.put(next, [mark]));
    await finish();
    // The swap requires an existing index.
    await waitForTaskUnless('index_already_exists', server.create(uid));
    await waitForTask(await server.swap(uid, next));
    await feed.save(uid, { generation, checkpointXid: snapshotXmin });
    onUpdate({ kind: 'built', documents, durationMs: performance.now() - startedAt });
    await waitForTaskUnless('index_not_found', server.drop(next));
  };

  /** Writes the changes since a transaction to the index. Resolves with false when there are none. */
  const applyChanges = async (generation: string, checkpointXid: string, snapshotXmin: string): Promise<boolean> => {
    const { write, finish } = writer();
    let documents = 0;
    for (
      let after: { changed: string; name: string } | undefined = { changed: checkpointXid, name: '' };
      after !== undefined;
    ) {
      const batch = await feed.changes(after, batchSize);
      const deleted = batch.filter(({ feature }) => feature === null).map(({ name }) => idOf(name));
      const changed: IndexDocument[] = batch.flatMap(({ feature }) =>
        feature === null ? [] : [indexDocumentOf(feature)],
      );
      if (deleted.length > 0) await write(server.remove(uid, deleted));
      if (changed.length > 0) await write(server.put(uid, changed));
      documents += batch.length;
      after = batch.length < batchSize ? undefined : batch.at(-1);
    }
    if (documents === 0) return false;
    const { settings } = (await server.mark(uid)) as IndexMarker;
    await write(server.put(uid, [{ id: markerId, generation, checkpointXid: snapshotXmin, settings }]));
    await finish();
    await feed.save(uid, { generation, checkpointXid: snapshotXmin });
    onUpdate({ kind: 'updated', documents });
    return true;
  };

  /** The fault of the index; undefined when it is the one that was built, with all features and its settings. */
  const faultOf = async (generation: string, checkpointXid: string): Promise<string | undefined> => {
    const mark = (await server.mark(uid)) as Partial<IndexMarker>;
    if (mark.generation !== generation) return 'it is not the one that was built';
    // The marker is written before the checkpoint in PostgreSQL, so it may be newer but never older.
    if (BigInt(mark.checkpointXid ?? 0) < BigInt(checkpointXid)) return 'it is of an earlier time';
    if (mark.settings !== (await server.settings(uid))) return 'its settings were changed';
    const documents = await server.documentCount(uid);
    const features = await feed.countIfUnchangedSince(checkpointXid);
    return features === undefined || documents === features + 1
      ? undefined
      : 'it has not as many features as there are';
  };

  /** Writes changes, and checks the index when that is due. Resolves with the fault, if any. */
  const applyChangesAndCheck = async (
    generation: string,
    checkpointXid: string,
    snapshotXmin: string,
  ): Promise<string | undefined> => {
    try {
      const hasChanges = await applyChanges(generation, checkpointXid, snapshotXmin);
      if (performance.now() - checkedAt < checkIntervalMs) return undefined;
      const fault = await faultOf(generation, hasChanges ? snapshotXmin : checkpointXid);
      checkedAt = performance.now();
      onUpdate({ kind: 'checked' });
      return fault;
    } catch (error) {
      if (hasCode(error, 'index_not_found') || hasCode(error, 'document_not_found')) return 'it was lost';
      throw error;
    }
  };

  const update = async (): Promise<void> => {
    const { generation, checkpointXid, rebuildReason, snapshotXmin, isCheckpointInFuture } = await feed.status(uid);
    if (generation === null || checkpointXid === null || isCheckpointInFuture) return build(snapshotXmin);
    if (rebuildReason !== null) {
      warn(`Rebuilding the index in Meilisearch: ${rebuildReason}.`);
      return build(snapshotXmin);
    }
    const fault = await applyChangesAndCheck(generation, checkpointXid, snapshotXmin);
    if (fault !== undefined) await feed.markForRebuild(uid, fault);
  };

  const releaseLock = (): void => {
    lock?.release();
    lock = undefined;
  };

  const round = async (): Promise<void> => {
    if (lock?.isLost === true) releaseLock();
    try {
      lock ??= await feed.lock(uid);
      if (lock !== undefined) await update();
    } catch (error) {
      checkedAt = Number.NEGATIVE_INFINITY;
      if (!(error instanceof MeilisearchError)) releaseLock();
      throw error;
    }
  };

  const loop = startLoop({
    name: 'The update of the index in Meilisearch',
    run: round,
    intervalMs,
    maxBackoffMs,
    warn: (message: string) => warn(message),
  });
  return {
    stop: async () => {
      stopping.abort();
      await loop.stop();
      releaseLock();
    },
  };
};
