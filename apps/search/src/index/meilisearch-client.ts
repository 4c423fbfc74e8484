import { isJsonObject, Refusal } from '@bunting/contracts';
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
  /** the index is being built */
  | 'building'
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

const indexSettings = {
  searchableAttributes: ['name', 'words', 'tags'],
  filterableAttributes: ['archived', 'generation'],
  displayedAttributes: ['id', 'generation', 'checkpointXid', 'settings'],
} satisfies Settings;

/** The settings of an index that search depends on, as a text to compare them by. */
function settingsText(settings: Settings): string {
  return JSON.stringify(Object.keys(indexSettings).map((key) => settings[key as keyof typeof indexSettings]));
}

const primaryKey = 'id';

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
    /** The hits of each query. */
    search: (queries: readonly MultiSearchQuery[]): Promise<readonly (readonly unknown[])[]> =>
      withMeilisearchErrors(async () => {
        const results = member(await searchClient.multiSearch({ queries: [...queries] }), 'results');
        if (!Array.isArray(results) || results.length !== queries.length) throw invalidResponse('a list of results');
        return results.map((result) => {
          const hits = member(result, 'hits');
          if (!Array.isArray(hits)) throw invalidResponse('a list of hits');
          return hits;
        });
      }),
    settings: (uid: string): Promise<string> =>
      withMeilisearchErrors(async () => settingsText(await writeClient.index(uid).getSettings())),
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
