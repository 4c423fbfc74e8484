import { requireAllEndpoints } from '@bunting/bus';
import { migrateDatabase, openDatabase } from '@bunting/database';
import { readDeadLettersEndpoint, waitUntilFresh } from '@bunting/outbox';
import { drainTimeoutMs, defineService } from '@bunting/runtime';
import { SearchConfig } from './config.ts';
import type { FeatureSearch } from './feature-search.ts';
import { documentStore } from './documents/document-store.ts';
import { reconciler, startReconciliation, stateSource } from './documents/background.ts';
import { withMeilisearchRanking } from './meilisearch/with-meilisearch-ranking.ts';
import { startMeilisearchSearch } from './index/meilisearch-search.ts';
import { meilisearchMetrics } from './meilisearch/meilisearch-metrics.ts';
import { searchEndpoints } from './operations/index.ts';
import { indexReplicationRepository } from './index/index-store.ts';
import { postgresFeatureSearch } from './persistence/postgres-feature-search.ts';
import { reindexStatusRepository } from './persistence/reindex-status-repository.ts';
import { searchMigrations } from './migrations/migrations.ts';
import { createReindexer } from './documents/endpoints.ts';
import { consumeFeatureStates } from './documents/subscriptions.ts';

/** Searches features by all filters and orders of the API. */
export const searchService = defineService({
  name: 'search',
  config: SearchConfig,
  migrate: (config) =>
    migrateDatabase({ url: config.SEARCH_DATABASE_URL, name: 'search', migrations: searchMigrations }),
  start: async ({ config, bus, log, metrics, serve, onStop }) => {
    const database = await openDatabase({
      url: config.SEARCH_DATABASE_URL,
      name: 'search',
      migrations: searchMigrations,
      poolMax: config.SEARCH_DATABASE_POOL_MAX,
      statementTimeoutMs: config.SEARCH_STATEMENT_TIMEOUT_MS,
      metrics,
      log,
    });
    onStop('database', () => database.close());
    const states = await consumeFeatureStates({
      database,
      bus,
      intervalMs: config.SEARCH_POLL_INTERVAL_MS,
      metrics,
      log,
    });
    onStop('projection of features', () => states.stop());
    const stored = documentStore(database);
    const { reconcile, rebuild } = reconciler({ source: stateSource(bus), stored, states });
    const reconciling = startReconciliation({
      reconcile,
      stored,
      intervalMs: config.SEARCH_RECONCILE_INTERVAL_MS,
      metrics,
      log,
    });
    onStop('reconciliation', () => reconciling.stop());
    const postgres = postgresFeatureSearch(database);
    let featureSearch: FeatureSearch = postgres;
    let rebuildIndex = async (): Promise<void> => undefined;
    if (config.MEILI_URL !== undefined) {
      const indexMetrics = meilisearchMetrics(metrics);
      const replication = indexReplicationRepository(database);
      const meilisearch = startMeilisearchSearch({
        url: config.MEILI_URL,
        key: config.MEILI_KEY,
        uid: config.MEILI_INDEX,
        searchTimeoutMs: config.MEILI_TIMEOUT_MS,
        intervalMs: config.MEILI_POLL_INTERVAL_MS,
        checkIntervalMs: config.MEILI_CHECK_INTERVAL_MS,
        replication,
        log,
        onUpdate: indexMetrics.recordUpdate,
        onCircuitChange: indexMetrics.circuitChanged,
      });
      onStop('Meilisearch', () => meilisearch.stop());
      rebuildIndex = () => replication.markForRebuild(config.MEILI_INDEX, 'a reindex was requested');
      featureSearch = withMeilisearchRanking({
        postgres,
        findFuzzyMatches: meilisearch.findFuzzyMatches,
        onSearch: indexMetrics.recordSearch,
      });
    }
    const statusRepository = reindexStatusRepository(database);
    const reindexer = createReindexer({ statusRepository, rebuild, rebuildIndex, log });
    onStop('reindexing', () => reindexer.stop());
    const served = await serve(
      requireAllEndpoints('search', [
        readDeadLettersEndpoint('search', database),
        ...searchEndpoints({
          featureSearch,
          waitUntilFresh: waitUntilFresh({ catchUp: states.catchUp, freshnessWaitMs: config.SEARCH_FRESHNESS_WAIT_MS }),
          reindexer,
          reindexStatusRepository: statusRepository,
        }),
      ]),
    );
    onStop('calls', () => served.stop(), drainTimeoutMs);
    return { ready: () => database.ready() };
  },
});
