import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Refusal } from '@bunting/contracts';
import { type Log, startLoop } from '@bunting/runtime';
import { documentIdOf, type IndexDocument, indexDocumentOf, type IndexMarker, markerId } from './index-document.ts';
import type { IndexLock, IndexReplicationRepository } from './index-store.ts';
import { type MeilisearchClient, MeilisearchError } from './meilisearch-client.ts';

/** An index in Meilisearch, the features that belong in it, and the tasks that write it. */
interface ReplicatedIndex {
  readonly uid: string;
  readonly server: MeilisearchClient;
  readonly replication: IndexReplicationRepository;
  readonly tasks: IndexTasks;
}

/** The build of an index, and the transaction before which all changes are in it. */
export interface IndexCheckpoint {
  readonly generation: string;
  readonly checkpointXid: string;
}

const batchSize = 1_000;
/** How many documents a build sends at a time: Meilisearch takes a second or more for each write, however small it is. */
const maxDocumentsPerWrite = 10_000;
const maxWriteLength = 16 * 1024 * 1024;

/** The name of the index that a rebuild writes to. */
function rebuiltIndexName(uid: string): string {
  return `${uid}_next`;
}

/** Builds the index beside the one that is searched, and swaps them. Resolves with the number of documents. */
async function buildIndex({ uid, server, replication, tasks }: ReplicatedIndex, snapshotXmin: string): Promise<number> {
  const next = rebuiltIndexName(uid);
  const built: IndexCheckpoint = { generation: randomUUID(), checkpointXid: snapshotXmin };
  await tasks.waitForTaskUnless('index_not_found', server.drop(next));
  await tasks.waitForTask(await server.create(next));
  await tasks.waitForTask(await server.configure(next));
  const { generation: marks, checkpointXid } = built;
  const marker: IndexMarker = { id: markerId, marks, checkpointXid, settings: await server.settings(next) };
  const { write, finish } = tasks.writer();
  let documents = 0;
  let unsent: IndexDocument[] = [];
  let unsentLength = 0;
  for (let after: string | undefined = ''; after !== undefined;) {
    const batch = await replication.features(after, batchSize);
    const batchDocuments = batch.map((feature) => indexDocumentOf(feature, built.generation));
    unsent.push(...batchDocuments);
    unsentLength += JSON.stringify(batchDocuments).length;
    documents += batch.length;
    after = batch.length < batchSize ? undefined : batch.at(-1)?.name;
    const isLast = after === undefined;
    if (!isLast && unsent.length < maxDocumentsPerWrite && unsentLength < maxWriteLength) continue;
    // The marker comes with the last of them, since tasks are executed in their order.
    await write(server.put(next, isLast ? [...unsent, marker] : unsent));
    [unsent, unsentLength] = [[], 0];
  }
  await finish();
  // The swap requires an existing index.
  await tasks.waitForTaskUnless('index_already_exists', server.create(uid));
  await tasks.waitForTask(await server.swap(uid, next));
  await replication.save(uid, built);
  return documents;
}

/** Writes the changes since a checkpoint to the index. Resolves with their number. */
async function applyIndexChanges(
  { uid, server, replication, tasks }: ReplicatedIndex,
  { generation, checkpointXid }: IndexCheckpoint,
  snapshotXmin: string,
): Promise<number> {
  const { write, finish } = tasks.writer();
  let marker: IndexMarker | undefined;
  let documents = 0;
  for (
    let after: { changed: string; name: string } | undefined = { changed: checkpointXid, name: '' };
    after !== undefined;
  ) {
    const batch = await replication.changes(after, batchSize);
    // Before anything is written: a write would make an index where there is none.
    if (batch.length > 0) marker ??= await requireMarker(server, uid, generation);
    const deleted = batch.filter(({ feature }) => feature === null).map(({ name }) => documentIdOf(name));
    const changed = batch.flatMap(({ feature }) => (feature === null ? [] : [indexDocumentOf(feature, generation)]));
    if (deleted.length > 0) await write(server.remove(uid, deleted));
    const isLast = batch.length < batchSize;
    // With the last features, since each write takes the server as long as a search can bear.
    const advanced = isLast && marker !== undefined ? [{ ...marker, checkpointXid: snapshotXmin }] : [];
    if (changed.length + advanced.length > 0) await write(server.put(uid, [...changed, ...advanced]));
    documents += batch.length;
    after = isLast ? undefined : batch.at(-1);
  }
  if (marker === undefined) return 0;
  await finish();
  await replication.save(uid, { generation, checkpointXid: snapshotXmin });
  return documents;
}

/** The index is not the one that this process has built, or is gone. */
class LostIndexError extends Refusal {
  constructor() {
    super('ServiceUnavailable', 'the index in Meilisearch is not the one that was built');
  }
}

async function requireMarker(server: MeilisearchClient, uid: string, generation: string): Promise<IndexMarker> {
  const marker = (await server.marker(uid)) as IndexMarker;
  if (marker.marks !== generation) throw new LostIndexError();
  return marker;
}

const notOurs = 'it is not the one that was built';
/** How often an index of another installation is replaced. */
const takeOverIntervalMs = 600_000;

/** What is wrong with the index; undefined if it is the one that was built, with all features and its settings. */
async function findIndexFault(
  { uid, server, replication }: ReplicatedIndex,
  { generation, checkpointXid }: IndexCheckpoint,
): Promise<string | undefined> {
  const marker = (await server.marker(uid)) as Partial<IndexMarker>;
  if (marker.marks !== generation) return notOurs;
  // The marker is written before the checkpoint in PostgreSQL, so it may be newer but never older.
  if (BigInt(marker.checkpointXid ?? 0) < BigInt(checkpointXid)) return 'it is of an earlier time';
  if (marker.settings !== (await server.settings(uid))) return 'its settings were changed';
  const documents = await server.documentCount(uid);
  const features = await replication.countIfUnchangedSince(checkpointXid);
  // The marker is a document, too.
  if (features !== undefined && documents !== features + 1) return 'it has not as many features as there are';
  return undefined;
}

/** The maximum number of writes that the server has accepted and not completed. */
const maxPendingTasks = 4;

/** Whether an error is an error response of Meilisearch with this code. */
function hasCode(error: unknown, code: string): boolean {
  return error instanceof MeilisearchError && error.code === code;
}

/**
 * Waits for the tasks of a server: it accepts a write immediately, and executes it later as a task.
 * @param signal aborts the wait
 */
function indexTasks(server: Pick<MeilisearchClient, 'outcomeOf'>, signal: AbortSignal) {
  const waitForTask = async (task: number): Promise<void> => {
    for (let pauseMs = 5; ; pauseMs = Math.min(500, pauseMs * 2)) {
      const outcome = await server.outcomeOf(task);
      if (outcome === 'succeeded') return;
      if (outcome !== undefined)
        throw new MeilisearchError('error-response', `a task of it failed: ${outcome.failed}`, outcome.failed);
      await sleep(pauseMs, undefined, { signal });
    }
  };
  return {
    waitForTask,
    /** Waits for a task. If it fails with this error code, this is ignored. */
    waitForTaskUnless: (code: string, task: Promise<number>): Promise<void> =>
      task.then(waitForTask).catch((error: unknown) => {
        if (!hasCode(error, code)) throw error;
      }),
    /** Limits the number of writes that are not completed; `finish` resolves when all are. */
    writer: () => {
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
    },
  };
}
type IndexTasks = ReturnType<typeof indexTasks>;

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

/** A server that is back may have lost its index. */
const maxBackoffMs = 1_000;

/**
 * Replicates the features in PostgreSQL to an index in Meilisearch: writes changes, detects when the index was lost or restored from
 * a backup, and rebuilds it beside the old one. One of several processes holds the lock; another one takes over when that process ends.
 */
export function startIndexUpdater(options: IndexUpdaterOptions) {
  const { uid, server, replication, intervalMs, checkIntervalMs, log, onUpdate } = options;
  const stopping = new AbortController();
  const tasks = indexTasks(server, stopping.signal);
  const index = { uid, server, replication, tasks };
  let lock: IndexLock | undefined;
  let checkedAt = Number.NEGATIVE_INFINITY;
  let takenOverAt = Number.NEGATIVE_INFINITY;

  /**
   * Two installations that share the name of an index would replace each other's for ever: after the first time, this one waits.
   * @throws MeilisearchError that says so
   */
  const requireNoOtherInstallation = (fault: string): void => {
    if (fault !== notOurs) return;
    if (performance.now() - takenOverAt < takeOverIntervalMs)
      throw new MeilisearchError(
        'building',
        `another installation uses the index ${uid} as well: set MEILI_INDEX to another name in one of them`,
      );
    takenOverAt = performance.now();
  };

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
      if (error instanceof LostIndexError) return notOurs;
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
    if (fault === undefined) return;
    requireNoOtherInstallation(fault);
    await replication.markForRebuild(uid, fault);
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
    /** Checks the index now, if this process updates it: a search has found that something is wrong with it. */
    check: (): void => {
      checkedAt = Number.NEGATIVE_INFINITY;
      loop.wake();
    },
    stop: async (): Promise<void> => {
      stopping.abort();
      await loop.stop();
      releaseLock();
    },
  };
}
