import { requireAllEndpoints } from '@bunting/bus';
import { migrateDatabase, openDatabase } from '@bunting/database';
import { readDeadLettersEndpoint, waitUntilFresh } from '@bunting/outbox';
import { defineService, drainTimeoutMs } from '@bunting/runtime';
import { SearchConfig } from './config.ts';
import { reconciler, startReconciliation, stateSource } from './documents/background.ts';
import { documentStore, reindexStatusRepository } from './documents/document-store.ts';
import { createReindexer, reindexEndpoints } from './documents/endpoints.ts';
import { consumeFeatureStates } from './documents/subscriptions.ts';
import { indexReplicationRepository } from './index/index-store.ts';
import { meilisearchMetrics, startMeilisearchSearch } from './index/meilisearch-search.ts';
import { searchMigrations } from './migrations/index.ts';
import { searchEndpoints } from './search/endpoints.ts';
import { type FeatureSearch, postgresFeatureSearch } from './search/search-store.ts';
import { suggestionEndpoints } from './suggestions/endpoints.ts';
import { type FeatureSuggester, postgresSuggester } from './suggestions/suggestion-store.ts';

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
      rebuild,
      stored,
      intervalMs: config.SEARCH_RECONCILE_INTERVAL_MS,
      metrics,
      log,
    });
    onStop('reconciliation', () => reconciling.stop());
    const postgres = postgresFeatureSearch(database);
    const postgresSuggestions = postgresSuggester(database);
    let featureSearch: FeatureSearch = postgres;
    let suggester: FeatureSuggester = postgresSuggestions;
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
        postgres,
        suggester: postgresSuggestions,
        replication,
        log,
        onAnswer: indexMetrics.recordAnswer,
        onUpdate: indexMetrics.recordUpdate,
        onCircuitChange: indexMetrics.circuitChanged,
      });
      onStop('Meilisearch', () => meilisearch.stop());
      rebuildIndex = () => replication.markForRebuild(config.MEILI_INDEX, 'a reindex was requested');
      featureSearch = meilisearch;
      suggester = meilisearch;
    }
    const statusRepository = reindexStatusRepository(database);
    const reindexer = createReindexer({ statusRepository, rebuild, rebuildIndex, log });
    onStop('reindexing', () => reindexer.stop());
    const waiting = {
      waitUntilFresh: waitUntilFresh({ catchUp: states.catchUp, freshnessWaitMs: config.SEARCH_FRESHNESS_WAIT_MS }),
    };
    const served = await serve(
      requireAllEndpoints('search', [
        readDeadLettersEndpoint('search', database),
        ...searchEndpoints({ featureSearch, ...waiting }),
        ...suggestionEndpoints({ suggester, ...waiting }),
        ...reindexEndpoints(reindexer, statusRepository),
      ]),
    );
    onStop('calls', () => served.stop(), drainTimeoutMs);
    return { ready: () => database.ready() };
  },
});
