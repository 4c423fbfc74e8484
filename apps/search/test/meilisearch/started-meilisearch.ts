import { type Database, openDatabase } from '@bunting/database';
import { eventually, freshDatabase, recordingLog } from '@bunting/testing';
import { type FeatureSearch, postgresFeatureSearch } from '../../src/search/search-store.ts';
import {
  type FuzzyEngine,
  withMeilisearchRanking,
  startMeilisearchSearch,
} from '../../src/index/meilisearch-search.ts';
import type { IndexUpdate } from '../../src/index/background.ts';
import { applyStates } from '../../src/documents/document-store.ts';
import { indexReplicationRepository } from '../../src/index/index-store.ts';
import { searchMigrations } from '../../src/migrations/index.ts';
import { type AnyState, messagesOf } from '../builders.ts';

export interface StartedMeilisearch {
  readonly index: FeatureSearch;
  readonly database: Database;
  readonly work: readonly IndexUpdate[];
  readonly warnings: readonly string[];
  readonly answers: readonly FuzzyEngine[];
  /** Applies states to the tables. */
  apply(states: readonly AnyState[]): Promise<void>;
  /** Resolves once the index has all changes. */
  level(): Promise<void>;
  stop(): Promise<void>;
}

export interface StartOptions {
  readonly url: string;
  readonly key?: string;
  readonly uid?: string;
  readonly searchTimeoutMs?: number;
  readonly checkIntervalMs?: number;
}

/** A fuzzy search on its own database, with its index in Meilisearch. */
export async function startOnFreshDatabase(options: StartOptions): Promise<StartedMeilisearch> {
  const fresh = await freshDatabase('meilisearch');
  const database = await openDatabase({ url: fresh.url, name: 'spec', migrations: searchMigrations });
  const replication = indexReplicationRepository(database);
  const uid = options.uid ?? 'features';
  const [work, answers]: [IndexUpdate[], FuzzyEngine[]] = [[], []];
  const { log, warnings } = recordingLog();
  const meilisearch = startMeilisearchSearch({
    key: undefined,
    uid,
    searchTimeoutMs: 5_000,
    intervalMs: 20,
    checkIntervalMs: 200,
    ...options,
    replication,
    log,
    onUpdate: (done) => void work.push(done),
    onCircuitChange: () => undefined,
  });
  const { findFuzzyMatches } = meilisearch;
  return {
    index: withMeilisearchRanking({
      postgres: postgresFeatureSearch(database),
      findFuzzyMatches,
      onSearch: (engine) => void answers.push(engine),
    }),
    database,
    work,
    warnings,
    answers,
    apply: (states) => database.transaction((tx) => applyStates(tx, messagesOf(states))),
    level: () =>
      eventually(async () => {
        const { generation, checkpointXid, rebuildReason } = await replication.status(uid);
        if (generation === null || checkpointXid === null || rebuildReason !== null)
          throw new Error('The index is being built.');
        if ((await replication.countIfUnchangedSince(checkpointXid)) === undefined)
          throw new Error('The index is behind.');
      }),
    stop: async () => {
      await meilisearch.stop();
      await database.close();
      await fresh.drop();
    },
  };
}
