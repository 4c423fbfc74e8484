import { type Log, type Loop, startLoop } from '@bunting/runtime';
import type { IndexReplicationRepository, IndexLock } from './index-store.ts';
import { hasCode, indexTasks } from '../meilisearch/index-tasks.ts';
import type { MeilisearchClient } from './meilisearch-client.ts';
import { MeilisearchError } from '../meilisearch/meilisearch-error.ts';
import {
  applyIndexChanges,
  buildIndex,
  findIndexFault,
  type IndexCheckpoint,
  rebuiltIndexName,
} from '../meilisearch/index-replication.ts';

interface IndexUpdaterOptions {
  readonly uid: string;
  readonly server: MeilisearchClient;
  readonly replication: IndexReplicationRepository;
  /** milliseconds between polls for changed features */
  readonly intervalMs: number;
  /** milliseconds between checks of an index whose features do not change */
  readonly checkIntervalMs: number;
  readonly log: Log;
  readonly onUpdate: (update: IndexUpdate) => void;
}

/** An update of the index. */
export type IndexUpdate =
  | { readonly kind: 'updated'; readonly documents: number }
  | { readonly kind: 'built'; readonly documents: number; readonly durationMs: number }
  | { readonly kind: 'checked' };

const maxBackoffMs = 60_000;

/**
 * Replicates the features in PostgreSQL to an index in Meilisearch: writes changes, detects when the index was lost or restored from
 * a backup, and rebuilds it beside the old one. One of several processes holds the lock; another one takes over when that process ends.
 */
export const startIndexUpdater = (options: IndexUpdaterOptions): Pick<Loop, 'stop'> => {
  const { uid, server, replication, intervalMs, checkIntervalMs, log, onUpdate } = options;
  const stopping = new AbortController();
  const tasks = indexTasks(server, stopping.signal);
  const index = { uid, server, replication, tasks };
  let lock: IndexLock | undefined;
  let checkedAt = Number.NEGATIVE_INFINITY;

  const build = async (snapshotXmin: string): Promise<void> => {
    const startedAt = performance.now();
    const documents = await buildIndex(index, snapshotXmin);
    onUpdate({ kind: 'built', documents, durationMs: performance.now() - startedAt });
    // After the swap, this is the earlier index.
    await tasks.waitForTaskUnless('index_not_found', server.drop(rebuiltIndexName(uid)));
  };

  /** Writes changes, and checks the index when that is due. Resolves with the fault, if any. */
  const applyChangesAndCheck = async (
    checkpoint: IndexCheckpoint,
    snapshotXmin: string,
  ): Promise<string | undefined> => {
    try {
      const documents = await applyIndexChanges(index, checkpoint, snapshotXmin);
      if (documents > 0) onUpdate({ kind: 'updated', documents });
      if (performance.now() - checkedAt < checkIntervalMs) return undefined;
      const fault = await findIndexFault(
        index,
        documents > 0 ? { ...checkpoint, checkpointXid: snapshotXmin } : checkpoint,
      );
      checkedAt = performance.now();
      onUpdate({ kind: 'checked' });
      return fault;
    } catch (error) {
      if (hasCode(error, 'index_not_found') || hasCode(error, 'document_not_found')) return 'it was lost';
      throw error;
    }
  };

  const update = async (): Promise<void> => {
    const { generation, checkpointXid, rebuildReason, snapshotXmin, isCheckpointInFuture } =
      await replication.status(uid);
    if (generation === null || checkpointXid === null || isCheckpointInFuture) return build(snapshotXmin);
    if (rebuildReason !== null) {
      log.warn(`Rebuilding the index in Meilisearch: ${rebuildReason}.`);
      return build(snapshotXmin);
    }
    const fault = await applyChangesAndCheck({ generation, checkpointXid }, snapshotXmin);
    if (fault !== undefined) await replication.markForRebuild(uid, fault);
  };

  const releaseLock = (): void => {
    lock?.release();
    lock = undefined;
  };

  const updateIfLocked = async (): Promise<void> => {
    if (lock?.isLost === true) releaseLock();
    try {
      lock ??= await replication.lock(uid);
      if (lock !== undefined) await update();
    } catch (error) {
      checkedAt = Number.NEGATIVE_INFINITY;
      if (!(error instanceof MeilisearchError)) releaseLock();
      throw error;
    }
  };

  const loop = startLoop({
    name: 'The update of the index in Meilisearch',
    run: updateIfLocked,
    intervalMs,
    maxBackoffMs,
    log,
  });
  return {
    stop: async () => {
      stopping.abort();
      await loop.stop();
      releaseLock();
    },
  };
};
