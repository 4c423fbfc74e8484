import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { StoredDocument } from './facets.ts';
import { RefusedQuery } from './filter.ts';
import {
  defaultSettings,
  documentsFound,
  emptyIndex,
  RefusedDocument,
  type StoredIndex,
  withDocuments,
  withoutDocuments,
} from './stored-index.ts';

/** A call as it came in. */
export interface Call {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: unknown;
}

/** What goes out: JSON, unless `text` is given. */
export interface Reply {
  readonly status: number;
  readonly json?: unknown;
  readonly text?: string;
  /** milliseconds that it takes */
  readonly delayMs?: number;
  /** hangs up instead */
  readonly hangsUp?: boolean;
}

/** A key of the server: what it may do, with which indexes. */
export interface ApiKey {
  readonly key: string;
  readonly actions: readonly string[];
  readonly indexes: readonly string[];
}

interface Task {
  readonly uid: number;
  readonly type: string;
  /** the indexes it is about; of a swap there are two, and none of them is told */
  indexes: readonly string[];
  status: 'enqueued' | 'processing' | 'succeeded' | 'failed';
  error: object | null;
  readonly enqueuedAt: string;
  readonly run: () => void;
}

/** All that the server keeps, as a copy of its disk would have it. */
export interface Disk {
  readonly indexes: ReadonlyMap<string, StoredIndex>;
  readonly tasks: readonly Task[];
}

/** A Meilisearch server in as much as its protocol shows one: tasks, settings, documents, searches, keys and errors. */
export interface MeilisearchStandIn {
  readonly url: string;
  /** every call since the start, in order */
  readonly calls: readonly Call[];
  /** Given a call and the reply to it, may give another. */
  meddle: (call: Call, reply: Reply) => Reply;
  /** milliseconds that a task waits before it is done */
  taskDelayMs: number;
  /** the code with which the next tasks of a type fail */
  failing: { type: string; code: string } | undefined;
  readonly disk: Disk;
  /** Puts another disk into the server: a copy of an earlier time, or one that somebody has altered. */
  replaceDisk(disk: Disk): void;
  /** Goes away, with whoever is connected, until it is told to come back at the same address. */
  leave(): Promise<void>;
  comeBack(): Promise<void>;
  stop(): Promise<void>;
}

export interface StandInOptions {
  /** opens everything; without it, no key is asked for */
  readonly masterKey?: string;
  readonly keys?: readonly ApiKey[];
}

const errorTypes: Readonly<Record<string, string>> = {
  missing_authorization_header: 'auth',
  invalid_api_key: 'auth',
  internal: 'internal',
};

const refusal = (status: number, code: string, message = code): Reply => ({
  status,
  json: {
    message,
    code,
    type: errorTypes[code] ?? 'invalid_request',
    link: `https://docs.meilisearch.com/errors#${code}`,
  },
});

/** An answer that is thrown to where it is sent. */
class Refused extends Error {
  readonly reply: Reply;
  constructor(status: number, code: string, message?: string) {
    super(code);
    this.reply = refusal(status, code, message);
  }
}

const searchMembers = [
  ...['indexUid', 'q', 'filter', 'sort', 'offset', 'limit', 'page', 'hitsPerPage'],
  ...['attributesToRetrieve', 'matchingStrategy'],
];
const mostOfBody = 100_000_000;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const count = (value: unknown, fallback: number, code: string): number => {
  if (value === undefined || value === null) return fallback;
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) throw new Refused(400, code);
  return value;
};

const shown = (document: StoredDocument, ...lists: readonly unknown[]): StoredDocument => {
  const within = lists.filter((list): list is string[] => Array.isArray(list) && !list.includes('*'));
  const entries = Object.entries(document).filter(([key]) => within.every((list) => list.includes(key)));
  return Object.fromEntries(entries);
};

const bodyOf = async (request: IncomingMessage): Promise<unknown> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > mostOfBody) throw new Refused(413, 'payload_too_large');
    chunks.push(chunk);
  }
  if (chunks.length === 0) return undefined;
  if (!(request.headers['content-type'] ?? '').startsWith('application/json'))
    throw new Refused(415, 'invalid_content_type');
  try {
    return JSON.parse(Buffer.concat(chunks).toString());
  } catch {
    throw new Refused(400, 'malformed_payload');
  }
};

export const startMeilisearchStandIn = async (options: StandInOptions = {}): Promise<MeilisearchStandIn> => {
  let indexes = new Map<string, StoredIndex>();
  let tasks: Task[] = [];
  const calls: Call[] = [];
  let working = false;
  let stopped = false;

  const indexOf = (uid: string): StoredIndex => {
    const index = indexes.get(uid);
    if (index === undefined) throw new Refused(404, 'index_not_found', `Index \`${uid}\` not found.`);
    return index;
  };

  /** One task after the other, in the order of their numbers. */
  const work = async (): Promise<void> => {
    if (working) return;
    working = true;
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, standIn.taskDelayMs));
      const task = tasks.find(({ status }) => status === 'enqueued');
      if (task === undefined || stopped) break;
      task.status = 'processing';
      try {
        if (standIn.failing?.type === task.type) throw new RefusedDocument(standIn.failing.code);
        task.run();
        task.status = 'succeeded';
      } catch (error) {
        task.status = 'failed';
        task.error = refusal(400, (error as Error).message).json as object;
      }
    }
    working = false;
  };

  const enqueue = (type: string, about: readonly string[], run: () => void): Reply => {
    const uid = (tasks.at(-1)?.uid ?? -1) + 1;
    const enqueuedAt = new Date().toISOString();
    tasks.push({ uid, type, indexes: about, status: 'enqueued', error: null, enqueuedAt, run });
    void work();
    const indexUid = about.length === 1 ? about[0] : null;
    return { status: 202, json: { taskUid: uid, indexUid, status: 'enqueued', type, enqueuedAt } };
  };

  const fail = (code: string): never => {
    throw new RefusedDocument(code);
  };
  const stored = (uid: string): StoredIndex => indexes.get(uid) ?? fail('index_not_found');

  const shownTask = ({ uid, type, indexes: about, status, error, enqueuedAt }: Task): object => ({
    ...{ uid, batchUid: uid, indexUid: about.length === 1 ? about[0] : null, status, type, canceledBy: null },
    ...{ details: {}, error, duration: status === 'succeeded' ? 'PT0.001S' : null, enqueuedAt },
    ...{ startedAt: null, finishedAt: null },
  });

  const search = (uid: string, asked: Record<string, unknown>): object => {
    const unknown = Object.keys(asked).find((key) => !searchMembers.includes(key));
    if (unknown !== undefined) throw new Refused(400, 'bad_request', `Unknown field \`${unknown}\``);
    const index = indexOf(uid);
    const found = documentsFound(index, asked);
    const { maxTotalHits } = index.settings['pagination'] as { maxTotalHits: number };
    const isPaged = asked['page'] !== undefined || asked['hitsPerPage'] !== undefined;
    const hitsPerPage = count(asked['hitsPerPage'], 20, 'invalid_search_hits_per_page');
    const page = count(asked['page'], 1, 'invalid_search_page');
    const offset = isPaged ? (page - 1) * hitsPerPage : count(asked['offset'], 0, 'invalid_search_offset');
    const limit = isPaged ? hitsPerPage : count(asked['limit'], 20, 'invalid_search_limit');
    const { displayedAttributes } = index.settings;
    const hits = found
      .slice(0, maxTotalHits)
      .slice(offset, offset + limit)
      .map((document) => shown(document, displayedAttributes, asked['attributesToRetrieve']));
    const total = found.length;
    return {
      ...{ hits, query: asked['q'] ?? '', processingTimeMs: 0 },
      ...(isPaged
        ? { hitsPerPage, page, totalPages: hitsPerPage === 0 ? 0 : Math.ceil(total / hitsPerPage), totalHits: total }
        : { limit, offset, estimatedTotalHits: total }),
      requestUid: '0199aa0e-0000-7000-8000-000000000000',
    };
  };

  const searchRefused = (error: unknown, isWithin: boolean): never => {
    if (error instanceof Refused && isWithin && error.message === 'index_not_found')
      throw new Refused(400, 'index_not_found', 'Inside `.queries[0]`: Index not found.');
    if (!(error instanceof RefusedQuery)) throw error;
    const code = error.message.toLowerCase().includes('sort') ? 'invalid_search_sort' : 'invalid_search_filter';
    throw new Refused(400, error.message === 'feature_not_enabled' ? error.message : code, error.message);
  };

  const requireKey = (request: IncomingMessage, action: string, about: readonly string[]): void => {
    if (options.masterKey === undefined) return;
    const given = request.headers.authorization;
    if (given === undefined) throw new Refused(401, 'missing_authorization_header');
    const secret = given.replace(/^Bearer /, '');
    if (secret === options.masterKey) return;
    const key = (options.keys ?? []).find((each) => each.key === secret);
    const may = (list: readonly string[], one: string) =>
      list.some((each) => each === '*' || each === one || (each.endsWith('*') && one.startsWith(each.slice(0, -1))));
    if (key === undefined || !may(key.actions, action) || !about.every((uid) => may(key.indexes, uid)))
      throw new Refused(403, 'invalid_api_key', 'The provided API key is invalid.');
  };

  const taskList = (query: URLSearchParams): Reply => {
    const wanted = query.get('indexUids')?.split(',');
    const found = tasks
      .filter((task) => wanted === undefined || task.indexes.some((uid) => wanted.includes(uid)))
      .toReversed();
    const results = found.slice(0, Number(query.get('limit') ?? 20)).map(shownTask);
    return { status: 200, json: { results, total: found.length, limit: results.length, from: null, next: null } };
  };

  const ofIndex = (request: IncomingMessage, { method, query, body }: Call, uid: string, rest: string): Reply => {
    const may = (action: string): void => requireKey(request, action, [uid]);
    switch (`${method} ${rest}`) {
      case 'DELETE ':
        may('indexes.delete');
        indexOf(uid);
        return enqueue('indexDeletion', [uid], () => void (indexes.delete(uid) || fail('index_not_found')));
      case 'GET settings':
        may('settings.get');
        return { status: 200, json: indexOf(uid).settings };
      case 'PATCH settings': {
        may('settings.update');
        const settings = body as Record<string, unknown>;
        const unknown = Object.keys(settings).find((key) => !(key in defaultSettings));
        if (unknown !== undefined) throw new Refused(400, 'bad_request', `Unknown field \`${unknown}\``);
        return enqueue('settingsUpdate', [uid], () => {
          const index = indexes.get(uid) ?? emptyIndex(null);
          const merged = Object.entries(settings).map(([key, value]) => [
            key,
            isObject(value) ? { ...(index.settings[key] as object), ...value } : value,
          ]);
          const next = { ...index.settings, ...(Object.fromEntries(merged) as object) };
          indexes.set(uid, { ...index, settings: next });
        });
      }
      case 'GET stats':
        may('stats.get');
        return { status: 200, json: { numberOfDocuments: indexOf(uid).documents.size, isIndexing: working } };
      case 'POST documents': {
        may('documents.add');
        if (!Array.isArray(body)) throw new Refused(400, 'malformed_payload');
        const documents = body as StoredDocument[];
        const key = query.get('primaryKey') ?? 'id';
        return enqueue('documentAdditionOrUpdate', [uid], () => {
          indexes.set(uid, withDocuments(indexes.get(uid) ?? emptyIndex(key), documents, key));
        });
      }
      case 'POST documents/delete-batch':
        may('documents.delete');
        return enqueue('documentDeletion', [uid], () => {
          indexes.set(uid, withoutDocuments(stored(uid), body as string[]));
        });
      case 'DELETE documents':
        may('documents.delete');
        return enqueue('documentDeletion', [uid], () => {
          indexes.set(uid, { ...stored(uid), documents: new Map() });
        });
      case 'GET documents': {
        may('documents.get');
        const [offset, limit] = [Number(query.get('offset') ?? 0), Number(query.get('limit') ?? 20)];
        const all = [...indexOf(uid).documents.values()];
        return { status: 200, json: { results: all.slice(offset, offset + limit), offset, limit, total: all.length } };
      }
      case 'POST search':
        may('search');
        try {
          return { status: 200, json: search(uid, body as Record<string, unknown>) };
        } catch (error) {
          return searchRefused(error, false);
        }
      default:
        return refusal(404, 'not_found');
    }
  };

  const answer = (request: IncomingMessage, call: Call): Reply => {
    const { method, path, query, body } = call;
    if (method === 'GET' && path === '/health') return { status: 200, json: { status: 'available' } };
    if (method === 'GET' && path === '/version') {
      requireKey(request, 'version', []);
      return { status: 200, json: { commitSha: '0', commitDate: '0', pkgVersion: '1.50.0' } };
    }
    if (method === 'POST' && path === '/indexes') {
      const { uid, primaryKey = null } = body as { uid: string; primaryKey?: string | null };
      requireKey(request, 'indexes.create', [uid]);
      return enqueue('indexCreation', [uid], () => {
        if (indexes.has(uid)) fail('index_already_exists');
        indexes.set(uid, emptyIndex(primaryKey));
      });
    }
    if (method === 'GET' && path === '/tasks') {
      requireKey(request, 'tasks.get', []);
      return taskList(query);
    }
    if (method === 'GET' && path.startsWith('/tasks/')) {
      requireKey(request, 'tasks.get', []);
      const task = tasks.find(({ uid }) => uid === Number(path.slice(7)));
      return task === undefined ? refusal(404, 'task_not_found') : { status: 200, json: shownTask(task) };
    }
    if (method === 'POST' && path === '/swap-indexes') {
      const [{ indexes: pair }] = body as [{ indexes: [string, string] }];
      requireKey(request, 'indexes.swap', pair);
      return enqueue('indexSwap', pair, () => {
        const [one, other] = pair.map(stored) as [StoredIndex, StoredIndex];
        indexes.set(pair[0], other).set(pair[1], one);
        // What is told of earlier tasks changes places as well.
        const swapped = (uid: string) => (uid === pair[0] ? pair[1] : uid === pair[1] ? pair[0] : uid);
        for (const task of tasks) if (task.type !== 'indexSwap') task.indexes = task.indexes.map(swapped);
      });
    }
    if (method === 'POST' && path === '/multi-search') {
      const { queries } = body as { queries: Record<string, unknown>[] };
      try {
        const results = queries.map((asked) => {
          const uid = String(asked['indexUid']);
          requireKey(request, 'search', [uid]);
          return { indexUid: uid, ...search(uid, asked) };
        });
        return { status: 200, json: { results } };
      } catch (error) {
        return searchRefused(error, true);
      }
    }
    const [, first, uid = '', ...rest] = path.split('/');
    return first === 'indexes' && uid !== ''
      ? ofIndex(request, call, decodeURIComponent(uid), rest.join('/'))
      : refusal(404, 'not_found');
  };

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://stand-in');
    const received = { method: request.method ?? '', path: pathname, query: searchParams };
    let call: Call = { ...received, body: undefined };
    let reply: Reply;
    try {
      call = { ...received, body: await bodyOf(request) };
      reply = answer(request, call);
    } catch (error) {
      reply = error instanceof Refused ? error.reply : refusal(500, 'internal', (error as Error).message);
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
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const leave = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });

  const standIn: MeilisearchStandIn = {
    url: `http://127.0.0.1:${port}`,
    calls,
    meddle: (_call, reply) => reply,
    taskDelayMs: 0,
    failing: undefined,
    get disk() {
      return { indexes: new Map(indexes), tasks: tasks.map((task) => ({ ...task })) };
    },
    replaceDisk: (disk) => {
      indexes = new Map(disk.indexes);
      tasks = disk.tasks.map((task) => ({ ...task }));
      void work();
    },
    leave,
    comeBack: () => listen(port),
    stop: async () => {
      stopped = true;
      await leave();
    },
  };
  return standIn;
};
