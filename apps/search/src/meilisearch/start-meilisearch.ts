import type { IndexFeed } from '../persistence/index-feed.ts';
import type { Similar } from '../persistence/search-statement.ts';
import type { FeatureQuery } from '../query/feature-query.ts';
import { circuitBreaker } from './circuit-breaker.ts';
import { type IndexWork, startIndexKeeper } from './index-updater.ts';
import { openServer, type ServerOptions } from './meilisearch-client.ts';
import { similarFeatures } from './similar-features.ts';

export interface MeilisearchOptions extends ServerOptions {
  /** the name of the index; while another is built, that is named the same with `_next` behind it */
  readonly uid: string;
  readonly feed: IndexFeed;
  /** milliseconds between polls for changed features: so far the index may be behind */
  readonly intervalMs: number;
  /** milliseconds between checks of an index whose features do not change */
  readonly checkIntervalMs: number;
  readonly warn: (message: string) => void;
  readonly tell: (done: IndexWork) => void;
  readonly circuitChanged: (isOpen: boolean) => void;
}

const circuitOpenMs = 5_000;

/** Starts to keep the index, and searches in it through a circuit breaker. */
export const startMeilisearch = (options: MeilisearchOptions) => {
  const server = openServer(options);
  const keeper = startIndexKeeper({ ...options, server });
  const changed = (isOpen: boolean): void => {
    options.warn(isOpen ? 'Meilisearch fails: PostgreSQL answers fuzzy searches.' : 'Meilisearch answers again.');
    options.circuitChanged(isOpen);
  };
  const guarded = circuitBreaker({ openMs: circuitOpenMs, changed });
  return {
    similar: (query: FeatureQuery): Promise<readonly Similar[]> =>
      guarded(() => similarFeatures(server, options.uid, query)),
    stop: () => keeper.stop(),
  };
};
