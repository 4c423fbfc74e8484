import { openDatabase } from '@bunting/database';
import { defineService } from '@bunting/runtime';
import { SearchConfig } from './config.ts';
import { searchFeaturesEndpoint } from './operations/search-features.ts';
import { postgresIndex } from './persistence/postgres-index.ts';
import { searchSteps } from './persistence/tables.ts';
import { followStates } from './subscriptions/follow-states.ts';

/** Finds features, whatever is known of them. */
export const searchService = defineService({
  name: 'search',
  config: SearchConfig,
  start: async ({ config, bus, log, serve }) => {
    const warn = (message: string) => log.warn(message);
    const database = await openDatabase({
      url: config.SEARCH_DATABASE_URL,
      name: 'search',
      steps: searchSteps,
      poolSize: config.SEARCH_DATABASE_POOL_SIZE,
      statementTimeoutMs: config.SEARCH_STATEMENT_TIMEOUT_MS,
      warn,
    });
    if (config.MEILI_URL !== undefined)
      warn('MEILI_URL is set, but nothing uses Meilisearch yet: PostgreSQL answers searches.');
    const states = await followStates({ database, bus, intervalMs: config.SEARCH_POLL_INTERVAL_MS, warn });
    const served = await serve([
      searchFeaturesEndpoint({
        index: postgresIndex(database),
        states,
        freshnessWaitMs: config.SEARCH_FRESHNESS_WAIT_MS,
      }),
    ]);
    return {
      ready: async () => {
        bus.ready();
        await database.ping();
      },
      stop: async () => {
        await served.stop();
        await states.stop();
        await database.close();
      },
    };
  },
});
