import { randomUUID } from 'node:crypto';
import type { IndexReplicationRepository } from '../index/index-store.ts';
import { documentIdOf, indexDocumentOf, type IndexMarker, markerId } from '../index/index-document.ts';
import type { IndexTasks } from './index-tasks.ts';
import type { MeilisearchClient } from '../index/meilisearch-client.ts';

/** An index in Meilisearch, the features that belong in it, and the tasks that write it. */
export interface ReplicatedIndex {
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

/** The name of the index that a rebuild writes to. */
export const rebuiltIndexName = (uid: string): string => `${uid}_next`;

/** Builds the index beside the one that is searched, and swaps them. Resolves with the number of documents. */
export const buildIndex = async (
  { uid, server, replication, tasks }: ReplicatedIndex,
  snapshotXmin: string,
): Promise<number> => {
  const next = rebuiltIndexName(uid);
  const built: IndexCheckpoint = { generation: randomUUID(), checkpointXid: snapshotXmin };
  await tasks.waitForTaskUnless('index_not_found', server.drop(next));
  await tasks.waitForTask(await server.create(next));
  await tasks.waitForTask(await server.configure(next));
  const { write, finish } = tasks.writer();
  let documents = 0;
  for (let after: string | undefined = ''; after !== undefined;) {
    const batch = await replication.features(after, batchSize);
    if (batch.length > 0) await write(server.put(next, batch.map(indexDocumentOf)));
    documents += batch.length;
    after = batch.length < batchSize ? undefined : batch.at(-1)?.name;
  }
  const marker: IndexMarker = { id: markerId, ...built, settings: await server.settings(next) };
  await write(server.put(next, [marker]));
  await finish();
  // The swap requires an existing index.
  await tasks.waitForTaskUnless('index_already_exists', server.create(uid));
  await tasks.waitForTask(await server.swap(uid, next));
  await replication.save(uid, built);
  return documents;
};

/** Writes the changes since a checkpoint to the index. Resolves with their number. */
export const applyIndexChanges = async (
  { uid, server, replication, tasks }: ReplicatedIndex,
  { generation, checkpointXid }: IndexCheckpoint,
  snapshotXmin: string,
): Promise<number> => {
  const { write, finish } = tasks.writer();
  let documents = 0;
  for (
    let after: { changed: string; name: string } | undefined = { changed: checkpointXid, name: '' };
    after !== undefined;
  ) {
    const batch = await replication.changes(after, batchSize);
    const deleted = batch.filter(({ feature }) => feature === null).map(({ name }) => documentIdOf(name));
    const changed = batch.flatMap(({ feature }) => (feature === null ? [] : [indexDocumentOf(feature)]));
    if (deleted.length > 0) await write(server.remove(uid, deleted));
    if (changed.length > 0) await write(server.put(uid, changed));
    documents += batch.length;
    after = batch.length < batchSize ? undefined : batch.at(-1);
  }
  if (documents === 0) return 0;
  const applied: IndexCheckpoint = { generation, checkpointXid: snapshotXmin };
  const { settings } = (await server.marker(uid)) as IndexMarker;
  await write(server.put(uid, [{ id: markerId, ...applied, settings }]));
  await finish();
  await replication.save(uid, applied);
  return documents;
};

/** What is wrong with the index; undefined if it is the one that was built, with all features and its settings. */
export const findIndexFault = async (
  { uid, server, replication }: ReplicatedIndex,
  { generation, checkpointXid }: IndexCheckpoint,
): Promise<string | undefined> => {
  const marker = (await server.marker(uid)) as Partial<IndexMarker>;
  if (marker.generation !== generation) return 'it is not the one that was built';
  // The marker is written before the checkpoint in PostgreSQL, so it may be newer but never older.
  if (BigInt(marker.checkpointXid ?? 0) < BigInt(checkpointXid)) return 'it is of an earlier time';
  if (marker.settings !== (await server.settings(uid))) return 'its settings were changed';
  const documents = await server.documentCount(uid);
  const features = await replication.countIfUnchangedSince(checkpointXid);
  // The marker is a document, too.
  if (features !== undefined && documents !== features + 1) return 'it has not as many features as there are';
  return undefined;
};
