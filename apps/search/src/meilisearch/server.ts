import {
  Meilisearch,
  MeilisearchApiError,
  MeilisearchRequestError,
  MeilisearchRequestTimeOutError,
  type MultiSearchQuery,
} from 'meilisearch';
import type { IndexDocument, Mark } from './index-document.ts';
import { indexSettings } from './index-settings.ts';
import { Unanswered } from './unanswered.ts';

/** Where a Meilisearch server is, and how long it may take. */
export interface ServerOptions {
  readonly url: string;
  readonly key: string | undefined;
  /** milliseconds that a search may take */
  readonly searchTimeoutMs: number;
  /** milliseconds that anything else may take to be accepted */
  readonly writeTimeoutMs: number;
}

/** What became of a task. */
export type TaskOutcome = 'pending' | 'succeeded' | { readonly failed: string };

/** A Meilisearch server, as far as it is needed here. Whatever goes wrong with it is an `Unanswered`. */
export interface Server {
  search(queries: readonly MultiSearchQuery[]): Promise<readonly unknown[]>;
  /** The task that changed the index last; undefined when none is known. */
  newestTask(uid: string): Promise<number | undefined>;
  settings(uid: string): Promise<unknown>;
  /** Some documents, whole, in an order of the server's own. */
  documents(uid: string, offset: number, limit: number): Promise<readonly unknown[]>;
  outcomeOf(task: number): Promise<TaskOutcome>;
  // What follows is accepted, and done later: each answers the number of its task.
  create(uid: string): Promise<number>;
  configure(uid: string): Promise<number>;
  put(uid: string, documents: readonly (IndexDocument | Mark)[]): Promise<number>;
  remove(uid: string, ids: readonly string[]): Promise<number>;
  swap(one: string, other: string): Promise<number>;
  drop(uid: string): Promise<number>;
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

const garbled = (what: string): Unanswered => new Unanswered('garbled', `it answered ${what} that is none`);

const member = (value: unknown, key: string): unknown => (isObject(value) ? value[key] : undefined);

const integer = (value: unknown, what: string): number => {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) throw garbled(what);
  return value;
};

const list = (value: unknown, what: string): readonly unknown[] => {
  if (!Array.isArray(value)) throw garbled(what);
  return value;
};

/** It has no such index, or one that is set otherwise: it is not the index that was built. */
const tellsOfAnother = (code: string): boolean => code === 'index_not_found' || code.startsWith('invalid_search_');

const unansweredBy = (error: unknown): Unanswered => {
  if (error instanceof Unanswered) return error;
  if (error instanceof MeilisearchRequestError) {
    return error.cause instanceof MeilisearchRequestTimeOutError
      ? new Unanswered('late', 'it took too long')
      : new Unanswered('unreachable', 'it could not be reached');
  }
  if (error instanceof MeilisearchApiError) {
    const { status } = error.response;
    const code = String(member(error.cause, 'code') ?? '');
    return new Unanswered(tellsOfAnother(code) ? 'altered' : 'refused', `it answered ${status} ${code}`.trim(), code);
  }
  // A proxy's page, or half an answer, is no JSON.
  if (error instanceof SyntaxError) return garbled('JSON');
  throw error;
};

const attempt = async <T>(ask: () => Promise<T>): Promise<T> => {
  try {
    return await ask();
  } catch (error) {
    throw unansweredBy(error);
  }
};

const primaryKey = 'id';

export const openServer = ({ url, key, searchTimeoutMs, writeTimeoutMs }: ServerOptions): Server => {
  const client = (timeout: number) =>
    new Meilisearch({ host: url, timeout, ...(key === undefined ? {} : { apiKey: key }) });
  const searching = client(searchTimeoutMs);
  const writing = client(writeTimeoutMs);
  const task = (ask: () => Promise<unknown>): Promise<number> =>
    attempt(async () => integer(member(await ask(), 'taskUid'), 'a task'));

  return {
    search: (queries) =>
      attempt(async () => {
        const results = list(member(await searching.multiSearch({ queries: [...queries] }), 'results'), 'a list');
        if (results.length !== queries.length) throw garbled('a number of results');
        return results;
      }),
    newestTask: (uid) =>
      attempt(async () => {
        const tasks = list(member(await searching.tasks.getTasks({ indexUids: [uid], limit: 1 }), 'results'), 'a list');
        return tasks.length === 0 ? undefined : integer(member(tasks[0], 'uid'), 'a task');
      }),
    settings: (uid) => attempt(() => writing.index(uid).getSettings()),
    documents: (uid, offset, limit) =>
      attempt(async () => list(member(await writing.index(uid).getDocuments({ offset, limit }), 'results'), 'a list')),
    outcomeOf: (uid) =>
      attempt(async () => {
        const done: unknown = await writing.tasks.getTask(uid);
        const status = member(done, 'status');
        if (status === 'enqueued' || status === 'processing') return 'pending';
        if (status === 'succeeded') return 'succeeded';
        return { failed: String(member(member(done, 'error'), 'code') ?? status) };
      }),
    create: (uid) => task(() => writing.createIndex(uid, { primaryKey })),
    configure: (uid) => task(() => writing.index(uid).updateSettings({ ...indexSettings })),
    put: (uid, documents) => task(() => writing.index(uid).addDocuments([...documents], { primaryKey })),
    remove: (uid, ids) => task(() => writing.index(uid).deleteDocuments([...ids])),
    swap: (one, other) => task(() => writing.swapIndexes([{ indexes: [one, other], rename: false }])),
    drop: (uid) => task(() => writing.deleteIndex(uid)),
  };
};
