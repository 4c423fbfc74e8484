import { type Log, startLoop } from '@bunting/runtime';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { FeatureQuery } from '../search/feature-query.ts';
import type { FeatureSearch, PostgresFeatureSearch } from '../search/search-store.ts';
import { type PostgresSuggester, type FeatureSuggester, suggestionsOf } from '../suggestions/suggestion-store.ts';
import { type IndexUpdate, startIndexUpdater } from './background.ts';
import { featureNameOf } from './index-document.ts';
import { engineFor, facetCountsOf, facetFields, indexFilterOf, type IndexQuery } from './index-query.ts';
import type { IndexReplicationRepository, SearchableIndex } from './index-store.ts';
import {
  type FallbackReason,
  maxValuesPerFacet,
  meilisearchClient,
  type MeilisearchClientOptions,
  MeilisearchError,
} from './meilisearch-client.ts';

/** Which engine compared the texts of a fuzzy search, why it was not Meilisearch, and how long the answer took. */
export type EngineAnswer = { readonly durationMs: number } & (
  { readonly engine: 'meilisearch' } | { readonly engine: 'postgres'; readonly reason: FallbackReason }
);

interface MeilisearchOptions extends MeilisearchClientOptions {
  /** the name of the index; a rebuild writes to an index of this name with the suffix `_next` */
  readonly uid: string;
  readonly postgres: PostgresFeatureSearch;
  readonly suggester: PostgresSuggester;
  readonly replication: IndexReplicationRepository;
  /** milliseconds between polls for changed features: the maximum staleness of the index */
  readonly intervalMs: number;
  /** milliseconds between checks of an index whose features do not change */
  readonly checkIntervalMs: number;
  readonly log: Log;
  /** called for each fuzzy search, and for suggestions */
  readonly onAnswer: (answer: EngineAnswer) => void;
  readonly onUpdate: (update: IndexUpdate) => void;
  readonly onCircuitChange: (isOpen: boolean) => void;
}

/** A page of what Meilisearch found: names of features, the likeliest first, and the number on all pages. */
interface IndexHits {
  readonly names: readonly string[];
  /** how many hits the page has, of whatever form */
  readonly hits: number;
  readonly total: number;
  /** by field, how many of all hits have each value */
  readonly facets: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

/**
 * Starts the updates of the index, and searches features in PostgreSQL. Where `engineFor` says so, Meilisearch finds the page of a fuzzy search
 * and its total, and PostgreSQL reads the features of that page: it drops those that no longer match, no longer exist or are hidden. When
 * Meilisearch fails or finds nothing, PostgreSQL answers.
 */
export function startMeilisearchSearch(options: MeilisearchOptions) {
  const { uid, postgres, suggester, replication, log, onAnswer, onCircuitChange } = options;
  const server = meilisearchClient(options);
  const updater = startIndexUpdater({ ...options, server });
  const circuit = circuitBreaker({
    probe: () => server.search([{ indexUid: uid, limit: 0 }]),
    log,
    onChange: onCircuitChange,
  });

  /** @throws MeilisearchError when Meilisearch fails, and while its index cannot be relied on */
  const findHits = async (
    request: Omit<IndexQuery, 'filter'> & { readonly facets?: readonly string[] },
    query: Pick<FeatureQuery, 'archived'> & Partial<FeatureQuery>,
    caller: Parameters<typeof indexFilterOf>[1],
    index: SearchableIndex | undefined,
  ): Promise<IndexHits> => {
    if (index === undefined) throw new MeilisearchError('building', 'the index is being built');
    if (index.isBehind) throw new MeilisearchError('behind', 'the index lacks changes');
    const { offset, limit, q, facets = [] } = request;
    const [marker, found] = await circuit.call(() =>
      server.search([
        {
          indexUid: uid,
          filter: `marks = ${JSON.stringify(index.generation)}`,
          limit: 1,
          attributesToRetrieve: ['id'],
        },
        {
          indexUid: uid,
          q,
          offset,
          limit,
          filter: [...indexFilterOf(query, caller, index)],
          attributesToRetrieve: ['id'],
          matchingStrategy: 'all',
          ...(facets.length === 0 ? {} : { facets: [...facets] }),
        },
      ]),
    );
    if (marker?.hits.length !== 1) throw new MeilisearchError('building', 'the index is not the one that was built');
    const names = (found?.hits ?? []).flatMap((hit) => featureNameOf((hit as { id?: unknown } | null)?.id) ?? []);
    return {
      names: [...new Set(names)],
      hits: found?.hits.length ?? 0,
      total: found?.total ?? 0,
      facets: found?.facets ?? {},
    };
  };

  /** Answers with Meilisearch, or with PostgreSQL where that fails or finds nothing, and records which one it was. */
  const answerWith = async <T>(
    byMeilisearch: () => Promise<T | undefined>,
    byPostgres: () => Promise<T>,
  ): Promise<{ readonly answer: T; readonly engine: string }> => {
    const startedAt = performance.now();
    let reason: FallbackReason = 'no-hits';
    const found = await byMeilisearch().catch((error: unknown) => {
      if (!(error instanceof MeilisearchError)) throw error;
      reason = error.reason;
      // What lost its index is built again now, not only after the next check.
      if (reason === 'building') updater.check();
      return undefined;
    });
    const answer = found ?? (await byPostgres());
    const durationMs = performance.now() - startedAt;
    onAnswer(found === undefined ? { engine: 'postgres', reason, durationMs } : { engine: 'meilisearch', durationMs });
    return { answer, engine: found === undefined ? `postgres;reason=${reason}` : 'meilisearch' };
  };

  const search: FeatureSearch['search'] = async (query, searcher) => {
    if (!query.fuzzy || query.texts.length === 0) return postgres.search(query, searcher);
    const { answer, engine } = await answerWith(
      async () => {
        if (engineFor(query, searcher) === 'postgres')
          throw new MeilisearchError('unsupported', 'PostgreSQL alone answers it');
        const { offset, limit, words } = query;
        const { names, hits, total } = await findHits(
          { q: (words[0] ?? []).join(' '), offset, limit },
          query,
          searcher,
          await replication.searchable(uid, query.segment?.values ?? []),
        );
        if (total === 0) return undefined;
        const page = await postgres.read(query, searcher, names);
        return { ...page, total: Math.max(0, total - (hits - page.total)) };
      },
      () => postgres.search(query, searcher),
    );
    return { ...answer, engine };
  };

  const suggest: FeatureSuggester['suggest'] = async (query, caller) => {
    const { text, words, limit, facets, project } = query;
    // Both engines begin with these, so they are read once. PostgreSQL reads the state of the index meanwhile.
    const reading = suggester.readBeginnings(query, caller);
    const { answer, engine } = await answerWith(
      async () => {
        const isAboutAll = text === '' && facets.length > 0;
        if (words.length === 0 && !isAboutAll) throw new MeilisearchError('unsupported', 'PostgreSQL alone answers it');
        const [beginnings, index] = await Promise.all([reading, replication.searchable(uid, [])]);
        const hasEnough = beginnings.length === limit;
        if (hasEnough && facets.length === 0) throw new MeilisearchError('unsupported', 'PostgreSQL has found enough');
        const inProject = project === undefined ? {} : { project: { isNot: false, values: [project] } };
        const found = await findHits(
          { q: words.join(' '), offset: 0, limit, facets: facets.map((facet) => facetFields[facet]) },
          { archived: false, ...inProject },
          caller,
          index,
        );
        if (found.names.length === 0) return undefined;
        const counts = facetCountsOf(facets, found.facets, maxValuesPerFacet);
        if (counts === undefined) throw new MeilisearchError('unsupported', 'the index does not count all values');
        const rows = hasEnough ? beginnings : [...beginnings, ...(await suggester.read(query, caller, found.names))];
        return { suggestions: suggestionsOf(rows, query), ...(facets.length === 0 ? {} : { facets: counts }) };
      },
      () => suggester.suggest(query, caller, reading),
    );
    return { ...answer, engine };
  };

  return {
    search,
    suggest,
    stop: async (): Promise<void> => {
      await circuit.stop();
      await updater.stop();
    },
  };
}

interface CircuitBreakerOptions {
  /** a request that shows whether the server answers again */
  readonly probe: () => Promise<unknown>;
  readonly log: Log;
  readonly onChange: (isOpen: boolean) => void;
}

/** How many failures in a row open the circuit. */
const failuresToOpen = 3;
const probeIntervalMs = 500;
const neverMs = 2_147_483_647;

/** Whether an error says that the server does not work, rather than that its index is not there yet. */
function isFailure(error: unknown): boolean {
  return error instanceof MeilisearchError && error.reason !== 'building';
}

/**
 * A circuit breaker. It opens after some failures in a row, and then refuses every call at once; one probe at a time runs in the background, and
 * closes it when the server answers again. So no caller waits to find that out.
 */
function circuitBreaker({ probe, log, onChange }: CircuitBreakerOptions) {
  let failures = 0;
  let isOpen = false;
  const setOpen = (opens: boolean): void => {
    isOpen = opens;
    failures = 0;
    log.warn(
      opens
        ? `Meilisearch failed ${failuresToOpen} times in a row: PostgreSQL answers fuzzy searches until it recovers. Check MEILI_URL and the server.`
        : 'Meilisearch has recovered: it answers fuzzy searches again.',
    );
    onChange(opens);
  };
  const prober = startLoop({
    name: 'The probe of Meilisearch',
    intervalMs: neverMs,
    log,
    run: async () => {
      if (!isOpen) return neverMs;
      const error: unknown = await probe().then(
        () => undefined,
        (failure: unknown) => failure,
      );
      if (isFailure(error)) return probeIntervalMs;
      setOpen(false);
      return neverMs;
    },
  });
  return {
    /** Makes a request. @throws MeilisearchError at once while the circuit is open */
    call: async <T>(request: () => Promise<T>): Promise<T> => {
      if (isOpen) throw new MeilisearchError('circuit-open', 'it failed too often');
      try {
        const response = await request();
        failures = 0;
        return response;
      } catch (error) {
        if (isFailure(error) && !isOpen && ++failures === failuresToOpen) {
          setOpen(true);
          prober.wake();
        }
        throw error;
      }
    },
    stop: () => prober.stop(),
  };
}

/** Registers the metrics of Meilisearch. */
export function meilisearchMetrics(registry: Registry) {
  const registers = [registry];
  const answers = new Counter({
    name: 'bunting_search_answers_total',
    help: 'fuzzy searches and suggestions by the engine that compared the texts, and why it was not Meilisearch',
    labelNames: ['engine', 'reason'],
    registers,
  });
  const durations = new Histogram({
    name: 'bunting_search_answer_seconds',
    help: 'how long fuzzy searches and suggestions took, by the engine that compared the texts',
    labelNames: ['engine'],
    buckets: [0.005, 0.015, 0.025, 0.06, 0.1, 0.25, 1],
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
    recordAnswer: (answer: EngineAnswer): void => {
      answers.inc({ engine: answer.engine, reason: answer.engine === 'postgres' ? answer.reason : '' });
      durations.observe({ engine: answer.engine }, answer.durationMs / 1_000);
    },
    circuitChanged: (isOpen: boolean): void => openCircuit.set(isOpen ? 1 : 0),
    recordUpdate: (update: IndexUpdate): void => {
      if (update.kind === 'checked') return;
      documents.inc({ work: update.kind }, update.documents);
      if (update.kind === 'built') builds.observe(update.durationMs / 1_000);
    },
  };
}
