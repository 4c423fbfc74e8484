import { isJsonObject, Refusal } from '@bunting/contracts';
import { canonicalJson } from '@bunting/contracts/hashing';
import {
  Meilisearch,
  MeilisearchApiError,
  MeilisearchRequestError,
  MeilisearchRequestTimeOutError,
  type MultiSearchQuery,
  type Settings,
} from 'meilisearch';
import { type IndexDocument, type IndexMarker, markerId } from './index-document.ts';

/** Why PostgreSQL instead of Meilisearch compared the texts of a fuzzy search. */
export type FallbackReason =
  /** Meilisearch found nothing */
  | 'no-hits'
  /** PostgreSQL alone answers such a search */
  | 'unsupported'
  /** the index is being built */
  | 'building'
  /** the index lacks changes, and none have been written to it for some seconds */
  | 'behind'
  /** the circuit breaker is open */
  | 'circuit-open'
  | 'timeout'
  | 'unreachable'
  /** the server responded with an error */
  | 'error-response'
  /** the response violates the protocol */
  | 'malformed';

/** Meilisearch failed, or returned an invalid response. */
export class MeilisearchError extends Refusal {
  readonly reason: FallbackReason;
  /** of an error response: Meilisearch's error code */
  readonly code: string | undefined;
  constructor(reason: FallbackReason, message: string, code?: string) {
    super('ServiceUnavailable', message);
    this.reason = reason;
    this.code = code;
  }
}

export interface MeilisearchClientOptions {
  readonly url: string;
  readonly key: string | undefined;
  /** milliseconds that a search may take */
  readonly searchTimeoutMs: number;
}

/** milliseconds that any other request may take: writes are only accepted in that time, and executed later */
const requestTimeoutMs = 15_000;

function member(value: unknown, key: string): unknown {
  return isJsonObject(value) ? value[key] : undefined;
}

function invalidResponse(expected: string): MeilisearchError {
  return new MeilisearchError('malformed', `its response is malformed: expected ${expected}`);
}

function requireInteger(value: unknown, expected: string): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) throw invalidResponse(expected);
  return value;
}

function toMeilisearchError(error: unknown): MeilisearchError {
  if (error instanceof MeilisearchError) return error;
  if (error instanceof MeilisearchRequestError)
    return error.cause instanceof MeilisearchRequestTimeOutError
      ? new MeilisearchError('timeout', 'it took too long')
      : new MeilisearchError('unreachable', 'it could not be reached');
  if (error instanceof MeilisearchApiError) {
    const code = String(member(error.cause, 'code') ?? '');
    const reason = code === 'index_not_found' ? 'building' : 'error-response';
    return new MeilisearchError(reason, `it answered ${error.response.status} ${code}`.trim(), code);
  }
  // An error page of a proxy, or a truncated response, is not JSON.
  if (error instanceof SyntaxError) return invalidResponse('JSON');
  throw error;
}

async function withMeilisearchErrors<T>(request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    throw toMeilisearchError(error);
  }
}

/** Of how many values of a property the index counts the features. */
export const maxValuesPerFacet = 1_000;

const indexSettings = {
  searchableAttributes: ['name', 'words', 'tags'],
  filterableAttributes: [
    'generation',
    'marks',
    'archived',
    'stale',
    'project',
    'type',
    'createdById',
    'createdBy',
    'tagKeys',
    'segmentIds',
    'statuses',
  ],
  displayedAttributes: ['id', 'marks', 'checkpointXid', 'settings'],
  rankingRules: ['words', 'typo', 'proximity', 'attribute', 'exactness', 'inProduction:desc', 'changed:desc'],
  // As `allowedTypos` of src/search/words.ts has it, so that both engines find the same.
  typoTolerance: { enabled: true, minWordSizeForTypos: { oneTypo: 4, twoTypos: 8 }, disableOnNumbers: true },
  faceting: { maxValuesPerFacet },
  // Servers before 1.50 count no further than this; pages are limited by `engineFor`.
  pagination: { maxTotalHits: 1_000_000 },
} satisfies Settings;

function facetsOf(distribution: unknown): QueryResult['facets'] {
  if (distribution === undefined) return {};
  const fields = isJsonObject(distribution) ? Object.entries(distribution) : [];
  return Object.fromEntries(
    fields.map(([field, counts]) => [
      field,
      Object.fromEntries(
        Object.entries(isJsonObject(counts) ? counts : {}).map(([value, count]) => [
          value,
          requireInteger(count, 'the counts of a facet'),
        ]),
      ),
    ]),
  );
}

const primaryKey = 'id';

/** What one query finds. */
interface QueryResult {
  readonly hits: readonly unknown[];
  readonly total: number;
  /** for each requested field, how many of the documents that are found have each value */
  readonly facets: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

export type MeilisearchClient = ReturnType<typeof meilisearchClient>;

/** The operations of a Meilisearch server that search uses. @throws MeilisearchError for every failure */
export function meilisearchClient({ url, key, searchTimeoutMs }: MeilisearchClientOptions) {
  const client = (timeout: number) =>
    new Meilisearch({ host: url, timeout, ...(key === undefined ? {} : { apiKey: key }) });
  const searchClient = client(searchTimeoutMs);
  const writeClient = client(requestTimeoutMs);
  const startTask = (request: () => Promise<unknown>): Promise<number> =>
    withMeilisearchErrors(async () => requireInteger(member(await request(), 'taskUid'), 'a task'));

  return {
    /** The hits of each query, and the number of all that it finds. */
    search: (queries: readonly MultiSearchQuery[]): Promise<readonly QueryResult[]> =>
      withMeilisearchErrors(async () => {
        const results = member(await searchClient.multiSearch({ queries: [...queries] }), 'results');
        if (!Array.isArray(results) || results.length !== queries.length) throw invalidResponse('a list of results');
        return results.map((result) => {
          const hits = member(result, 'hits');
          if (!Array.isArray(hits)) throw invalidResponse('a list of hits');
          const total = requireInteger(member(result, 'estimatedTotalHits'), 'a number of hits');
          return { hits, total, facets: facetsOf(member(result, 'facetDistribution')) };
        });
      }),
    /** All settings of an index, as a text to compare them by: whoever changes one changes what searches find. */
    settings: (uid: string): Promise<string> =>
      withMeilisearchErrors(async () => canonicalJson(await writeClient.index(uid).getSettings())),
    /** The number of documents, the marker included. */
    documentCount: (uid: string): Promise<number> =>
      withMeilisearchErrors(async () =>
        requireInteger(member(await writeClient.index(uid).getStats(), 'numberOfDocuments'), 'a count'),
      ),
    marker: (uid: string): Promise<unknown> =>
      withMeilisearchErrors(() => writeClient.index(uid).getDocument(markerId)),
    /** The outcome of a task; undefined while it is queued or runs. */
    outcomeOf: (uid: number): Promise<'succeeded' | { readonly failed: string } | undefined> =>
      withMeilisearchErrors(async () => {
        const task: unknown = await writeClient.tasks.getTask(uid);
        const status = member(task, 'status');
        if (status === 'enqueued' || status === 'processing') return undefined;
        if (status === 'succeeded') return 'succeeded';
        return { failed: String(member(member(task, 'error'), 'code') ?? status) };
      }),
    // Meilisearch accepts these writes immediately, and executes them later: each resolves with the number of its task.
    create: (uid: string) => startTask(() => writeClient.createIndex(uid, { primaryKey })),
    configure: (uid: string) => startTask(() => writeClient.index(uid).updateSettings({ ...indexSettings })),
    put: (uid: string, documents: readonly (IndexDocument | IndexMarker)[]) =>
      startTask(() => writeClient.index(uid).addDocuments([...documents], { primaryKey })),
    remove: (uid: string, ids: readonly string[]) => startTask(() => writeClient.index(uid).deleteDocuments([...ids])),
    swap: (one: string, other: string) =>
      startTask(() => writeClient.swapIndexes([{ indexes: [one, other], rename: false }])),
    drop: (uid: string) => startTask(() => writeClient.deleteIndex(uid)),
  };
}
