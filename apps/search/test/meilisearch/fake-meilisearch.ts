import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { reservePort } from '@bunting/testing';
import { parseFilter } from './filter.ts';

/** A request as the server has received it. */
export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

/** A response of the server: JSON, unless `text` is given. */
export interface FakeResponse {
  readonly status: number;
  readonly json?: unknown;
  readonly text?: string;
  readonly delayMs?: number;
  /** whether the server closes the connection instead of a response */
  readonly hangsUp?: boolean;
}

/** A key of the server: the actions that it allows, and on which indexes. */
interface ApiKey {
  readonly key: string;
  readonly actions: readonly string[];
  readonly indexes: readonly string[];
}

interface StoredIndex {
  readonly settings: Readonly<Record<string, unknown>>;
  readonly documents: ReadonlyMap<string, StoredDocument>;
}

interface Task {
  readonly uid: number;
  readonly type: string;
  status: 'enqueued' | 'succeeded' | 'failed';
  error: object | null;
  readonly run: () => void;
}

/** An imitation of Meilisearch with the parts of its API that search uses: tasks, settings, documents, searches, keys and errors. */
export interface FakeMeilisearch {
  readonly url: string;
  /** every request since the start, in order */
  readonly calls: readonly ReceivedRequest[];
  /** May replace the response to a request. */
  meddle: (call: ReceivedRequest, reply: FakeResponse) => FakeResponse;
  /** the code with which the next tasks of a type fail */
  failing: { type: string; code: string } | undefined;
  /** the stored indexes; another map imitates a disk that was restored or altered */
  indexes: ReadonlyMap<string, StoredIndex>;
  /** Closes all connections and accepts none until the server is resumed at the same port. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  stop(): Promise<void>;
}

export interface FakeMeilisearchOptions {
  /** a key that allows everything; without it, no key is required */
  readonly masterKey?: string;
  readonly keys?: readonly ApiKey[];
}

/** An error response, thrown to the code that sends responses. */
class Refused extends Error {
  readonly reply: FakeResponse;
  constructor(status: number, code: string) {
    super(code);
    this.reply = { status, json: { message: code, code, type: 'invalid_request', link: '' } };
  }
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const text = Buffer.concat(await request.toArray()).toString();
  return text === '' ? undefined : JSON.parse(text);
}

const queryMembers = [
  'indexUid',
  'q',
  'filter',
  'offset',
  'limit',
  'attributesToRetrieve',
  'matchingStrategy',
  'facets',
];

function list(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

/** The part of the default settings that decides what a search finds. */
const defaultSettings = {
  searchableAttributes: ['*'],
  filterableAttributes: [],
  displayedAttributes: ['*'],
  rankingRules: ['words', 'typo', 'proximity', 'attribute', 'sort', 'exactness'],
  typoTolerance: { enabled: true, minWordSizeForTypos: { oneTypo: 5, twoTypos: 9 }, disableOnNumbers: false },
  pagination: { maxTotalHits: 1_000 },
  faceting: { maxValuesPerFacet: 100 },
  stopWords: [],
  synonyms: {},
};

function searchIndex({ settings, documents }: StoredIndex, request: Readonly<Record<string, unknown>>): object {
  if (Object.keys(request).some((key) => !queryMembers.includes(key))) throw new Refused(400, 'bad_request');
  const { filter = [], q = '', offset = 0, limit = 20 } = request as Partial<SearchRequest>;
  const all = [...documents.values()];
  const known = new Set(all.flatMap((document) => Object.keys(document)));
  const conditions = [filter].flat().map((text) => {
    try {
      return parseFilter(text, list(settings['filterableAttributes']), (field) => known.has(field));
    } catch {
      throw new Refused(400, 'invalid_search_filter');
    }
  });
  const rules = list(settings['rankingRules']).flatMap((rule) => /^(\w+):desc$/.exec(rule)?.[1] ?? []);
  const ranked = all
    .filter((document) => conditions.every((holds) => holds(document)))
    .map((document) => ({ document, rank: rankOf(q, document, settings as unknown as TypoSettings) }))
    .filter(({ rank }) => rank !== undefined)
    // Ties are broken by nothing that a caller may rely on.
    .reverse()
    .toSorted(
      (one, other) =>
        (one.rank ?? 0) - (other.rank ?? 0) ||
        rules
          .map((field) => Number(other.document[field] ?? 0) - Number(one.document[field] ?? 0))
          .find((difference) => difference !== 0) ||
        0,
    );
  const { maxTotalHits } = settings['pagination'] as { maxTotalHits: number };
  const retrievedAttributes = list(request['attributesToRetrieve'] ?? settings['displayedAttributes']);
  const hits = ranked
    .slice(0, maxTotalHits)
    .slice(offset, offset + limit)
    .map(({ document }) =>
      Object.fromEntries(Object.entries(document).filter(([key]) => retrievedAttributes.includes(key))),
    );
  const documentsFound = ranked.map(({ document }) => document);
  const facets = list(request['facets']);
  return {
    indexUid: request['indexUid'],
    hits,
    query: q,
    limit,
    offset,
    estimatedTotalHits: ranked.length,
    ...(facets.length === 0 ? {} : { facetDistribution: distributionOf(facets, documentsFound, settings) }),
  };
}

/** For each field, how many documents have each of its values: of the values that come first by their bytes, as Meilisearch does. */
function distributionOf(
  fields: readonly string[],
  documents: readonly StoredDocument[],
  settings: StoredIndex['settings'],
): object {
  const filterable = list(settings['filterableAttributes']);
  const { maxValuesPerFacet } = settings['faceting'] as { maxValuesPerFacet: number };
  return Object.fromEntries(
    fields.map((field) => {
      if (!filterable.includes(field)) throw new Refused(400, 'invalid_search_facets');
      const counts = new Map<string, number>();
      for (const document of documents)
        for (const value of [document[field]].flat()) counts.set(String(value), (counts.get(String(value)) ?? 0) + 1);
      return [field, Object.fromEntries([...counts].toSorted().slice(0, maxValuesPerFacet))];
    }),
  );
}

interface SearchRequest {
  readonly filter: string | readonly string[];
  readonly q: string;
  readonly offset: number;
  readonly limit: number;
}

interface TypoSettings {
  readonly searchableAttributes: readonly string[];
  readonly typoTolerance: {
    readonly enabled: boolean;
    readonly minWordSizeForTypos: { readonly oneTypo: number; readonly twoTypos: number };
    readonly disableOnNumbers: boolean;
  };
}

export async function startFakeMeilisearch(options: FakeMeilisearchOptions = {}): Promise<FakeMeilisearch> {
  const calls: ReceivedRequest[] = [];
  const tasks: Task[] = [];
  let indexes = new Map<string, StoredIndex>();

  const indexOf = (uid: string): StoredIndex => {
    const index = indexes.get(uid);
    if (index === undefined) throw new Refused(404, 'index_not_found');
    return index;
  };

  /** Accepts a task, and executes it in a later iteration of the event loop, after the tasks before it. */
  const enqueue = (type: string, run: () => void): FakeResponse => {
    const task: Task = { uid: tasks.length, type, status: 'enqueued', error: null, run };
    tasks.push(task);
    setImmediate(() => {
      try {
        if (standIn.failing?.type === type) throw new Refused(400, standIn.failing.code);
        task.run();
        task.status = 'succeeded';
      } catch (error) {
        task.status = 'failed';
        task.error = error instanceof Refused ? (error.reply.json as object) : { code: (error as Error).message };
      }
    });
    return { status: 202, json: { taskUid: task.uid, status: 'enqueued', type } };
  };

  const requireKey = (request: IncomingMessage, action: string, about: readonly string[]): void => {
    if (options.masterKey === undefined) return;
    const sentKey = request.headers.authorization?.replace(/^Bearer /, '');
    if (sentKey === undefined) throw new Refused(401, 'missing_authorization_header');
    if (sentKey === options.masterKey) return;
    const key = (options.keys ?? []).find((each) => each.key === sentKey);
    const may = (allowed: readonly string[], one: string) => allowed.includes('*') || allowed.includes(one);
    if (key === undefined || !may(key.actions, action) || !about.every((uid) => may(key.indexes, uid)))
      throw new Refused(403, 'invalid_api_key');
  };

  const ofIndex = (
    request: IncomingMessage,
    { method, body }: ReceivedRequest,
    uid: string,
    rest: string,
  ): FakeResponse => {
    const may = (action: string): void => requireKey(request, action, [uid]);
    switch (`${method} ${rest}`) {
      case 'DELETE ':
        may('indexes.delete');
        return enqueue('indexDeletion', () => {
          indexOf(uid);
          indexes.delete(uid);
        });
      case 'GET settings':
        may('settings.get');
        return { status: 200, json: indexOf(uid).settings };
      case 'PATCH settings':
        may('settings.update');
        return enqueue('settingsUpdate', () => {
          const index = indexOf(uid);
          indexes.set(uid, { ...index, settings: { ...index.settings, ...(body as object) } });
        });
      case 'GET stats':
        may('stats.get');
        return { status: 200, json: { numberOfDocuments: indexOf(uid).documents.size, isIndexing: false } };
      case 'POST documents':
        may('documents.add');
        return enqueue('documentAdditionOrUpdate', () => {
          const index = indexes.get(uid) ?? { settings: defaultSettings, documents: new Map<string, StoredDocument>() };
          const added = (body as StoredDocument[]).map((each): [string, StoredDocument] => [String(each['id']), each]);
          indexes.set(uid, { ...index, documents: new Map([...index.documents, ...added]) });
        });
      case 'POST documents/delete-batch':
      case 'DELETE documents':
        may('documents.delete');
        return enqueue('documentDeletion', () => {
          const isDeleted = (id: string) => method === 'DELETE' || (body as string[]).includes(id);
          const remaining = [...indexOf(uid).documents].filter(([id]) => !isDeleted(id));
          indexes.set(uid, { ...indexOf(uid), documents: new Map(remaining) });
        });
      case 'GET documents/mark': {
        may('documents.get');
        const mark = indexOf(uid).documents.get('mark');
        if (mark === undefined) throw new Refused(404, 'document_not_found');
        return { status: 200, json: mark };
      }
      default:
        throw new Refused(404, 'not_found');
    }
  };

  const answer = (request: IncomingMessage, call: ReceivedRequest): FakeResponse => {
    const { method, path, body } = call;
    if (method === 'POST' && path === '/indexes') {
      const { uid } = body as { uid: string };
      requireKey(request, 'indexes.create', [uid]);
      return enqueue('indexCreation', () => {
        if (indexes.has(uid)) throw new Refused(400, 'index_already_exists');
        indexes.set(uid, { settings: defaultSettings, documents: new Map() });
      });
    }
    if (method === 'GET' && path.startsWith('/tasks/')) {
      requireKey(request, 'tasks.get', []);
      const task = tasks[Number(path.slice('/tasks/'.length))];
      if (task === undefined) throw new Refused(404, 'task_not_found');
      return { status: 200, json: { uid: task.uid, type: task.type, status: task.status, error: task.error } };
    }
    if (method === 'POST' && path === '/swap-indexes') {
      const [{ indexes: pair }] = body as [{ indexes: [string, string] }];
      requireKey(request, 'indexes.swap', pair);
      return enqueue('indexSwap', () => {
        const [one, other] = [indexOf(pair[0]), indexOf(pair[1])];
        indexes.set(pair[0], other).set(pair[1], one);
      });
    }
    if (method === 'POST' && path === '/multi-search') {
      const { queries } = body as { queries: Record<string, unknown>[] };
      const results = queries.map((query) => {
        const uid = String(query['indexUid']);
        requireKey(request, 'search', [uid]);
        return searchIndex(indexOf(uid), query);
      });
      return { status: 200, json: { results } };
    }
    const [, first, uid = '', ...rest] = path.split('/');
    if (first === 'indexes' && uid !== '') return ofIndex(request, call, decodeURIComponent(uid), rest.join('/'));
    throw new Refused(404, 'not_found');
  };

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname } = new URL(request.url ?? '/', 'http://stand-in');
    const call: ReceivedRequest = { method: request.method ?? '', path: pathname, body: await bodyOf(request) };
    let reply: FakeResponse;
    try {
      reply = answer(request, call);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      reply = error.reply;
    }
    calls.push(call);
    reply = standIn.meddle(call, reply);
    if (reply.delayMs !== undefined) await new Promise((resolve) => setTimeout(resolve, reply.delayMs).unref());
    if (reply.hangsUp === true) return void response.destroy();
    const type = reply.text === undefined ? 'application/json' : 'text/html';
    response.writeHead(reply.status, { 'content-type': type }).end(reply.text ?? JSON.stringify(reply.json));
  };

  const server = createServer((request, response) => void handle(request, response).catch(() => response.destroy()));
  const listen = (port: number): Promise<void> =>
    new Promise((resolve, reject) => {
      server.once('error', reject).listen(port, '127.0.0.1', () => resolve());
    });
  const port = await reservePort();
  await listen(port);
  const pause = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });

  const standIn: FakeMeilisearch = {
    url: `http://127.0.0.1:${port}`,
    calls,
    meddle: (_call, reply) => reply,
    failing: undefined,
    get indexes() {
      return new Map(indexes);
    },
    set indexes(restored) {
      indexes = new Map(restored);
    },
    pause,
    resume: () => listen(port),
    stop: pause,
  };
  return standIn;
}

export type StoredDocument = Readonly<Record<string, unknown>>;

const word = /[\p{L}\p{N}]+/gu;
const mostWords = 10;

function tokensOf(text: string): string[] {
  return text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().match(word) ?? [];
}

/** The edit distance of two words: substitutions, insertions, deletions and transpositions of adjacent letters. */
function distance(one: string, other: string): number {
  const rows = Array.from({ length: one.length + 1 }, (_, row) =>
    Array.from({ length: other.length + 1 }, (__, column) => (row === 0 ? column : column === 0 ? row : 0)),
  );
  const at = (row: number, column: number): number => rows[row]?.[column] ?? 0;
  for (let row = 1; row <= one.length; row++) {
    for (let column = 1; column <= other.length; column++) {
      const same = one[row - 1] === other[column - 1];
      const swapped = row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      (rows[row] as number[])[column] = Math.min(
        at(row - 1, column) + 1,
        at(row, column - 1) + 1,
        at(row - 1, column - 1) + (same ? 0 : 1),
        swapped ? at(row - 2, column - 2) + 1 : Number.POSITIVE_INFINITY,
      );
    }
  }
  return at(one.length, other.length);
}

function allowedTypos(text: string, { enabled, minWordSizeForTypos, disableOnNumbers }: TypoSettings['typoTolerance']) {
  if (!enabled || (disableOnNumbers && /\d/.test(text))) return 0;
  return text.length >= minWordSizeForTypos.twoTypos ? 2 : text.length >= minWordSizeForTypos.oneTypo ? 1 : 0;
}

/** The errors between a typed word and the token that is most like it; an error in the first letter counts twice. */
function typosOf(typed: string, tokens: readonly string[], isPrefix: boolean, allowed: number): number | undefined {
  const counts = tokens.flatMap((token) => {
    const beginnings = isPrefix ? [-1, 0, 1].map((more) => token.slice(0, Math.max(0, typed.length + more))) : [token];
    return beginnings
      .filter((looked) => Math.abs(looked.length - typed.length) <= allowed)
      .map((looked) => distance(typed, looked) + (looked === typed || looked[0] === typed[0] ? 0 : 1));
  });
  const fewest = Math.min(...counts);
  return fewest <= allowed ? fewest : undefined;
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.flatMap(textsOf) : typeof value === 'string' ? [value] : [];
}

/** The sum of the typing errors with which a document contains the words of a query; undefined if it does not contain one of them. */
function rankOf(q: string, document: StoredDocument, settings: TypoSettings): number | undefined {
  const { searchableAttributes, typoTolerance } = settings;
  const queryWords = tokensOf(q).slice(0, mostWords);
  const tokens = searchableAttributes.flatMap((field) => textsOf(document[field]).flatMap(tokensOf));
  let typos = 0;
  for (const [at, each] of queryWords.entries()) {
    const isPrefix = at === queryWords.length - 1;
    const fewest = typosOf(each, tokens, isPrefix, allowedTypos(each, typoTolerance));
    if (fewest === undefined) return undefined;
    typos += fewest;
  }
  return typos;
}
