import type { Log } from '@bunting/runtime';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { FeatureQuery } from '../search/feature-query.ts';
import type { FeatureSearch, FuzzyMatch, PostgresFeatureSearch } from '../search/search-store.ts';
import { type IndexUpdate, startIndexUpdater } from './background.ts';
import { featureNameOf } from './index-document.ts';
import type { IndexReplicationRepository } from './index-store.ts';
import {
  type FallbackReason,
  type MeilisearchClient,
  meilisearchClient,
  type MeilisearchClientOptions,
  MeilisearchError,
} from './meilisearch-client.ts';

/** Which engine compared the texts of a fuzzy search, and why it was not Meilisearch. */
export type FuzzyEngine =
  { readonly engine: 'meilisearch' } | { readonly engine: 'postgres'; readonly reason: FallbackReason };

interface MeilisearchOptions extends MeilisearchClientOptions {
  /** the name of the index; a rebuild writes to an index of this name with the suffix `_next` */
  readonly uid: string;
  readonly postgres: PostgresFeatureSearch;
  readonly replication: IndexReplicationRepository;
  /** milliseconds between polls for changed features: the maximum staleness of the index */
  readonly intervalMs: number;
  /** milliseconds between checks of an index whose features do not change */
  readonly checkIntervalMs: number;
  readonly log: Log;
  /** called for each fuzzy search */
  readonly onSearch: (engine: FuzzyEngine) => void;
  readonly onUpdate: (update: IndexUpdate) => void;
  readonly onCircuitChange: (isOpen: boolean) => void;
}

const circuitOpenMs = 5_000;

/**
 * Starts the updates of the index, and searches features in PostgreSQL. For a fuzzy search Meilisearch ranks the features, and PostgreSQL
 * drops those that do not match, no longer exist or are hidden. When Meilisearch fails, PostgreSQL compares the texts too.
 */
export function startMeilisearchSearch(options: MeilisearchOptions): FeatureSearch & { stop(): Promise<void> } {
  const { uid, postgres, log, onSearch, onCircuitChange } = options;
  const server = meilisearchClient(options);
  const updater = startIndexUpdater({ ...options, server });
  const throughCircuitBreaker = circuitBreaker({
    openMs: circuitOpenMs,
    onChange: (isOpen) => {
      log.warn(
        isOpen
          ? `Meilisearch failed ${failuresToOpen} times in a row: PostgreSQL answers fuzzy searches until it recovers. Check MEILI_URL and the server.`
          : 'Meilisearch has recovered: it answers fuzzy searches again.',
      );
      onCircuitChange(isOpen);
    },
  });
  return {
    search: async (query, searcher) => {
      if (!query.fuzzy || query.texts.length === 0) return postgres.search(query, searcher);
      let engine: FuzzyEngine = { engine: 'meilisearch' };
      const findMatches = () => findFuzzyMatches(server, uid, query);
      const matches = await throughCircuitBreaker(findMatches).catch((error: unknown) => {
        if (!(error instanceof MeilisearchError)) throw error;
        engine = { engine: 'postgres', reason: error.reason };
        return undefined;
      });
      onSearch(engine);
      // The index may have been emptied: when Meilisearch finds nothing, PostgreSQL compares the texts.
      const ranked = matches?.length === 0 ? undefined : matches;
      return { ...(await postgres.search(query, searcher, ranked)), engine: engineHeader(engine) };
    },
    stop: () => updater.stop(),
  };
}

/** The value of the `Bunting-Search-Engine` header: `meilisearch`, or `postgres;reason=<why>`. */
function engineHeader(engine: FuzzyEngine): string {
  return engine.engine === 'meilisearch' ? engine.engine : `${engine.engine};reason=${engine.reason}`;
}

/** The maximum number of features for each text. */
const maxHits = 1_000;

/** Removes the characters that are operators in a query of Meilisearch: quotes, and minus signs before a word. */
function removeOperators(text: string): string {
  return text
    .replace(/["']/g, ' ')
    .replace(/(^|\s)-+/g, '$1')
    .trim();
}
const hasWord = /[\p{L}\p{N}]/u;

/**
 * Finds the features that match the texts of a fuzzy query in Meilisearch, the most relevant first: at most 1,000 for each text.
 * @throws MeilisearchError when Meilisearch fails, or while the index is being built
 */
async function findFuzzyMatches(
  server: Pick<MeilisearchClient, 'search'>,
  indexUid: string,
  { texts, archived }: Pick<FeatureQuery, 'texts' | 'archived'>,
): Promise<readonly FuzzyMatch[]> {
  // A text without a word would match every feature.
  const queries = texts.map(removeOperators).filter((text) => hasWord.test(text));
  if (queries.length === 0) return [];
  const [markers = [], ...results] = await server.search([
    { indexUid, filter: 'generation EXISTS', limit: 1 },
    ...queries.map((q) => ({
      indexUid,
      q,
      limit: maxHits,
      filter: `archived = ${archived ? 1 : 0}`,
      attributesToRetrieve: ['id'],
      matchingStrategy: 'all' as const,
    })),
  ]);
  if (markers.length === 0) throw new MeilisearchError('building', 'the index is being built');
  return results.flatMap((hits) =>
    hits.flatMap((hit, rank) => {
      const name = featureNameOf((hit as { id?: unknown } | null)?.id);
      return name === undefined ? [] : [{ name, relevance: maxHits - rank }];
    }),
  );
}

interface CircuitBreakerOptions {
  /** milliseconds that an open circuit lets no request through */
  readonly openMs: number;
  readonly onChange: (isOpen: boolean) => void;
}

/** How many failures in a row open the circuit. */
const failuresToOpen = 3;

/**
 * A circuit breaker. It opens after `failuresToOpen` failures in a row; when it has been open for `openMs`, one request is let through,
 * whose success closes it. The error that the index is being built does not count as a failure.
 */
function circuitBreaker({ openMs, onChange }: CircuitBreakerOptions) {
  let failures = 0;
  let retryAt = 0;
  return async <T>(request: () => Promise<T>): Promise<T> => {
    if (failures >= failuresToOpen) {
      if (performance.now() < retryAt) throw new MeilisearchError('circuit-open', 'it failed too often');
      retryAt = performance.now() + openMs;
    }
    try {
      const response = await request();
      if (failures >= failuresToOpen) onChange(false);
      failures = 0;
      return response;
    } catch (error) {
      if (error instanceof MeilisearchError && error.reason !== 'building' && ++failures === failuresToOpen) {
        retryAt = performance.now() + openMs;
        onChange(true);
      }
      throw error;
    }
  };
}

/** Registers the metrics of Meilisearch. */
export function meilisearchMetrics(registry: Registry) {
  const registers = [registry];
  const searches = new Counter({
    name: 'bunting_search_answers_total',
    help: 'fuzzy searches by the engine that compared the texts, and why it was not Meilisearch',
    labelNames: ['engine', 'reason'],
    registers,
  });
  const openCircuit = new Gauge({
    name: 'bunting_search_circuit_open',
    help: '1 while the circuit breaker lets no search through to Meilisearch',
    registers,
  });
  const documents = new Counter({
    name: 'bunting_search_index_documents_total',
    help: 'documents that were written to Meilisearch or removed from it',
    labelNames: ['work'],
    registers,
  });
  const builds = new Histogram({
    name: 'bunting_search_index_build_seconds',
    help: 'how long it took to build the index',
    buckets: [1, 5, 15, 60, 300, 1_800],
    registers,
  });
  openCircuit.set(0);
  return {
    recordSearch: (engine: FuzzyEngine): void =>
      searches.inc({ engine: engine.engine, reason: engine.engine === 'postgres' ? engine.reason : '' }),
    circuitChanged: (isOpen: boolean): void => openCircuit.set(isOpen ? 1 : 0),
    recordUpdate: (update: IndexUpdate): void => {
      if (update.kind === 'checked') return;
      documents.inc({ work: update.kind }, update.documents);
      if (update.kind === 'built') builds.observe(update.durationMs / 1_000);
    },
  };
}
