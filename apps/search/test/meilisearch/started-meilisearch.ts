import { type Database, openDatabase } from '@bunting/database';
import { eventually, freshDatabase, recordingLog } from '@bunting/testing';
import { Meilisearch } from 'meilisearch';
import { randomUUID } from 'node:crypto';
import { applyStates } from '../../src/documents/document-store.ts';
import type { IndexUpdate } from '../../src/index/background.ts';
import { indexReplicationRepository } from '../../src/index/index-store.ts';
import { type EngineAnswer, startMeilisearchSearch } from '../../src/index/meilisearch-search.ts';
import { searchMigrations } from '../../src/migrations/index.ts';
import { postgresFeatureSearch } from '../../src/search/search-store.ts';
import { postgresSuggester } from '../../src/suggestions/suggestion-store.ts';
import { type AnyState, messagesOf } from '../builders.ts';

export interface StartedMeilisearch {
  readonly index: Pick<ReturnType<typeof startMeilisearchSearch>, 'search' | 'suggest'>;
  readonly database: Database;
  readonly work: readonly IndexUpdate[];
  readonly warnings: readonly string[];
  readonly answers: readonly EngineAnswer[];
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
  const [work, answers]: [IndexUpdate[], EngineAnswer[]] = [[], []];
  const { log, warnings } = recordingLog();
  const meilisearch = startMeilisearchSearch({
    key: undefined,
    uid,
    searchTimeoutMs: 5_000,
    intervalMs: 20,
    checkIntervalMs: 200,
    ...options,
    postgres: postgresFeatureSearch(database),
    suggester: postgresSuggester(database),
    replication,
    log,
    onAnswer: (answer) => void answers.push(answer),
    onUpdate: (done) => void work.push(done),
    onCircuitChange: () => undefined,
  });
  return {
    index: meilisearch,
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

/** A real Meilisearch server for tests, and a unique index name on it. */
export interface RealServer {
  readonly url: string;
  readonly key?: string;
  readonly uid: string;
  /** Removes the indexes of the test. */
  leave(): Promise<void>;
}

/** The server at `MEILI_URL`. */
export function realServer(): RealServer {
  const { MEILI_URL: url, MEILI_KEY: key } = process.env;
  if (url === undefined || url === '') throw new Error('MEILI_URL is not set.');
  const uid = `bunting-test-${randomUUID()}`;
  const client = new Meilisearch({ host: url, ...(key === undefined ? {} : { apiKey: key }) });
  return {
    url,
    ...(key === undefined ? {} : { key }),
    uid,
    leave: async () => {
      for (const index of [uid, `${uid}_next`]) await client.deleteIndexIfExists(index);
    },
  };
}
