import type { Log } from '@bunting/runtime';
import type { IndexReplicationRepository } from './index-store.ts';
import type { FuzzyMatch } from '../search/search-store.ts';
import type { FeatureQuery } from '../search/feature-query.ts';
import { circuitBreaker, failuresToOpen } from '../meilisearch/circuit-breaker.ts';
import { type IndexUpdate, startIndexUpdater } from './background.ts';
import { meilisearchClient, type MeilisearchClientOptions } from './meilisearch-client.ts';
import { findFuzzyMatches } from '../meilisearch/find-fuzzy-matches.ts';

interface MeilisearchOptions extends MeilisearchClientOptions {
  /** the name of the index; a rebuild writes to an index of this name with the suffix `_next` */
  readonly uid: string;
  readonly replication: IndexReplicationRepository;
  /** milliseconds between polls for changed features: the maximum staleness of the index */
  readonly intervalMs: number;
  /** milliseconds between checks of an index whose features do not change */
  readonly checkIntervalMs: number;
  readonly log: Log;
  readonly onUpdate: (update: IndexUpdate) => void;
  readonly onCircuitChange: (isOpen: boolean) => void;
}

const circuitOpenMs = 5_000;

/** Starts the updates of the index, and searches it through a circuit breaker. */
export const startMeilisearchSearch = (options: MeilisearchOptions) => {
  const server = meilisearchClient(options);
  const updater = startIndexUpdater({ ...options, server });
  const onChange = (isOpen: boolean): void => {
    options.log.warn(
      isOpen
        ? `Meilisearch failed ${failuresToOpen} times in a row: PostgreSQL answers fuzzy searches until it recovers. Check MEILI_URL and the server.`
        : 'Meilisearch has recovered: it answers fuzzy searches again.',
    );
    options.onCircuitChange(isOpen);
  };
  const throughCircuitBreaker = circuitBreaker({ openMs: circuitOpenMs, onChange });
  return {
    findFuzzyMatches: (query: FeatureQuery): Promise<readonly FuzzyMatch[]> =>
      throughCircuitBreaker(() => findFuzzyMatches(server, options.uid, query)),
    stop: () => updater.stop(),
  };
};
