import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { CallResponse } from '@bunting/bus';
import type { Caller } from '@bunting/contracts';
import { eventually } from '@bunting/testing';
import { aFeature, deletedFeatureState, featureState, tagged } from '../../test/builders.ts';
import {
  type StoredDocument,
  type ReceivedRequest,
  type FakeMeilisearch,
  type FakeResponse,
  startFakeMeilisearch,
} from '../../test/meilisearch/fake-meilisearch.ts';
import { mia, type StartedSearch, startSearch } from '../../test/started-search.ts';

let standIn: FakeMeilisearch;
let started: StartedSearch;

const misspelt = { query: 'paymnet', fuzzy: 'true' };
const expected = { names: ['payment-a', 'payment-b', 'payment-c'], total: 3 };

function engineOf(answer: CallResponse): string | undefined {
  return 'reply' in answer ? answer.reply.headers['Bunting-Search-Engine'] : undefined;
}

/** What a search finds, and which engine compared the texts. */
async function searched(query: Parameters<StartedSearch['respond']>[0] = misspelt, caller: Caller = mia) {
  const answer = await started.respond(query, caller);
  if ('refusal' in answer) throw new Error(answer.refusal.error.message);
  const { features, total } = JSON.parse(answer.reply.json) as { features: { name: string }[]; total: number };
  return { found: { names: features.map(({ name }) => name), total }, engine: engineOf(answer) };
}

function answeredByMeilisearch() {
  return eventually(async () => expect(await searched()).toEqual({ found: expected, engine: 'meilisearch' }));
}

/** A client with a key of its own. */
function request(method: string, path: string, body?: unknown): Promise<Response> {
  return fetch(`${standIn.url}${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

function isSearch({ path }: ReceivedRequest): boolean {
  return path === '/multi-search';
}
/** A search of a caller: with the marker of the index, unlike a probe. */
function isOfCaller(call: ReceivedRequest): boolean {
  return isSearch(call) && (call.body as { queries: unknown[] }).queries.length === 2;
}
function isWrite({ method, path }: ReceivedRequest): boolean {
  return method === 'POST' && path.includes('/documents');
}
/** The last requests of the updater; a check makes three. While it writes, it repairs the index itself. */
function lastRequests(count: number): ReceivedRequest[] {
  return standIn.calls.filter((call) => !isSearch(call)).slice(-count);
}

/** The reply to a search with its hits changed. */
function withHits(reply: FakeResponse, change: (hits: StoredDocument[]) => unknown): FakeResponse {
  const { results } = reply.json as { results: { hits: StoredDocument[] }[] };
  const changed = results.map((result, at) => {
    if (at === 0) return result;
    const hits = change(result.hits);
    return { ...result, hits, ...(Array.isArray(hits) ? { estimatedTotalHits: hits.length } : {}) };
  });
  return { ...reply, json: { results: changed } };
}

beforeAll(async () => {
  standIn = await startFakeMeilisearch();
  started = await startSearch({
    MEILI_URL: standIn.url,
    MEILI_TIMEOUT_MS: '2000',
    MEILI_POLL_INTERVAL_MS: '50',
    MEILI_CHECK_INTERVAL_MS: '100',
  });
  await started.features.publish(featureState(aFeature({ name: 'dark-mode', tags: tagged('simple:red') })));
  // What was changed last comes first of what matches as well.
  for (const nth of ['c', 'b', 'a']) {
    await started.features.publish(featureState(aFeature({ name: `payment-${nth}`, project: `shop-${nth}` })));
    expect(await started.names({ query: `payment-${nth}` })).toEqual([`payment-${nth}`]);
  }
  await answeredByMeilisearch();
});
afterAll(async () => {
  await started.stop();
  await standIn.stop();
});
afterEach(async () => {
  standIn.meddle = (_call, reply) => reply;
  standIn.failing = undefined;
  await answeredByMeilisearch();
});

describe('the counts beside suggestions', () => {
  const facets = 'type,tags,project,state';
  const isCounting = (call: ReceivedRequest) => JSON.stringify(call.body ?? '').includes('"facets"');

  it.each(['', 'payment', 'paymnet', 'dark'])(
    'are the same from Meilisearch and PostgreSQL for the text "%s"',
    async (query) => {
      const before = standIn.calls.filter(isCounting).length;
      const counted = await started.suggest({ query, facets });
      expect(standIn.calls.filter(isCounting)).toHaveLength(before + 1);
      expect(counted.facets?.project?.length).toBeGreaterThan(0);
      standIn.meddle = (call, reply) => (isSearch(call) ? { status: 500, json: {} } : reply);
      expect((await started.suggest({ query, facets })).facets).toEqual(counted.facets);
    },
  );

  it('are of PostgreSQL where the index has a hash for a value', async () => {
    const name = 'payment-long';
    await started.features.publish(featureState(aFeature({ name, tags: tagged(`simple:${'한'.repeat(50)}`) })));
    await eventually(async () =>
      expect((await searched({ query: 'paymnet-long', fuzzy: 'true' })).engine).toBe('meilisearch'),
    );
    const counted = await started.suggest({ query: 'paymnet', facets: 'tags' });
    expect(counted.facets?.tags).toEqual([{ value: `simple:${'한'.repeat(50)}`, count: 1 }]);
    await started.features.publish(deletedFeatureState(name, 2));
    await answeredByMeilisearch();
  });
});

describe('suggestions', () => {
  it('say which engine has found them, and why it was not Meilisearch', async () => {
    const engine = async (query: string) => engineOf(await started.respondToSuggest({ query }));
    expect(await engine('paymnet')).toBe('meilisearch');
    expect(await engine('nowhere')).toBe('postgres;reason=no-hits');
    standIn.meddle = (call, reply) => (isSearch(call) ? { status: 500, json: {} } : reply);
    expect(await engine('paymnet')).toBe('postgres;reason=error-response');
  });
});

describe('a fuzzy search', () => {
  const failures: readonly [string, string, (call: ReceivedRequest, reply: FakeResponse) => FakeResponse][] = [
    ['responds 500', 'error-response', () => ({ status: 500, json: { message: 'x', code: 'internal' } })],
    [
      'is overloaded',
      'error-response',
      () => ({ status: 503, json: { message: 'x', code: 'too_many_search_requests' } }),
    ],
    ['is behind a proxy that cannot reach it', 'malformed', () => ({ status: 502, text: '<html>Bad Gateway</html>' })],
    [
      'sends half of its response',
      'malformed',
      (_call, { json }) => ({ status: 200, text: JSON.stringify(json).slice(0, 90) }),
    ],
    ['sends something else', 'malformed', () => ({ status: 200, json: { results: 'none' } })],
    ['sends null', 'malformed', () => ({ status: 200, json: null })],
    ['sends hits that are no list', 'malformed', (_call, reply) => withHits(reply, () => 7)],
    ['closes the connection', 'unreachable', () => ({ status: 200, hangsUp: true })],
    ['takes three seconds', 'timeout', (_call, reply) => ({ ...reply, delayMs: 3_000 })],
  ];
  it.each(failures)('falls back to PostgreSQL, and says so, when Meilisearch %s', async (_name, reason, meddle) => {
    standIn.meddle = (call, reply) => (isSearch(call) ? meddle(call, reply) : reply);
    expect(await searched()).toEqual({ found: expected, engine: `postgres;reason=${reason}` });
  });

  it('does not wait for a Meilisearch that has failed three times, until a probe shows that it answers again', async () => {
    standIn.meddle = (call, reply) => (isSearch(call) ? { status: 500, json: {} } : reply);
    await eventually(async () => expect((await searched()).engine).toBe('postgres;reason=circuit-open'));
    const before = standIn.calls.filter(isOfCaller).length;
    expect(await searched()).toEqual({ found: expected, engine: 'postgres;reason=circuit-open' });
    expect(standIn.calls.filter(isOfCaller)).toHaveLength(before);
    await eventually(() => expect(standIn.calls.filter(isSearch).length).toBeGreaterThan(before + 1));
  });

  it('falls back to PostgreSQL while Meilisearch is down, and finds the changes of that time through Meilisearch when it is back', async () => {
    await standIn.pause();
    for (let nth = 0; nth < 5; nth++) expect((await searched()).found).toEqual(expected);
    await started.features.publish(featureState(aFeature({ name: 'invoice' })));
    expect((await searched({ query: 'invioce', fuzzy: 'true' })).found.names).toEqual(['invoice']);
    await standIn.resume();
    await eventually(async () =>
      expect(await searched({ query: 'invioce', fuzzy: 'true' })).toEqual({
        found: { names: ['invoice'], total: 1 },
        engine: 'meilisearch',
      }),
    );
  });

  it('is the only search that uses Meilisearch, by relevance', async () => {
    const before = standIn.calls.filter(isOfCaller).length;
    expect(await searched({ query: 'payment' })).toEqual({ found: expected, engine: undefined });
    expect((await searched({ fuzzy: 'true' })).engine).toBeUndefined();
    expect((await searched({ ...misspelt, sortBy: 'name' })).engine).toBe('postgres;reason=unsupported');
    expect(standIn.calls.filter(isOfCaller)).toHaveLength(before);
  });

  it('says that PostgreSQL answered it where Meilisearch finds nothing', async () => {
    expect(await searched({ query: 'aymen', fuzzy: 'true' })).toEqual({
      found: expected,
      engine: 'postgres;reason=no-hits',
    });
    expect(await searched({ query: 'nothing-like-it', fuzzy: 'true' })).toMatchObject({ found: { total: 0 } });
  });

  it('asks Meilisearch for its page alone, with its filters', async () => {
    await searched({ ...misspelt, project: 'IS:shop-b', limit: '5', offset: '10' });
    const { queries } = standIn.calls.findLast(isOfCaller)?.body as { queries: Record<string, unknown>[] };
    expect(queries[1]).toMatchObject({ q: 'paymnet', limit: 5, offset: 10 });
    expect(queries[1]?.['filter']).toContain('project IN ["shop-b"]');
    expect(await searched({ ...misspelt, offset: '2', limit: '1' })).toMatchObject({
      found: { names: [expect.stringMatching(/^payment-/)], total: 3 },
      engine: 'meilisearch',
    });
  });

  it.each(['"new" checkout', '-payment', `'x' "`, '😀', 'e\u0301', '\u202eשלום', 'a', '((((', '*'])(
    'takes the operators of Meilisearch for text: %s',
    async (query) => {
      standIn.meddle = (call, reply) => {
        if (isOfCaller(call))
          expect(JSON.stringify((call.body as { queries: { q?: string }[] }).queries[1]?.q)).not.toMatch(/\\"|(^| )-/);
        return reply;
      };
      expect((await searched({ query, fuzzy: 'true' })).engine).toBeDefined();
    },
  );

  it('returns only features that exist in PostgreSQL, match the other filters and are visible, in the order of Meilisearch', async () => {
    const hit = (name: string) => ({ id: Buffer.from(name).toString('hex') });
    const hits = ['payment-c', 'ghost', 'payment-a', 'payment-b', 'dark-mode'].map(hit);
    standIn.meddle = (call, reply) =>
      isSearch(call) ? withHits(reply, () => [...hits, { id: 7 }, { id: 'zz' }, null]) : reply;
    expect((await searched()).found).toEqual({ names: ['payment-c', 'payment-a', 'payment-b', 'dark-mode'], total: 4 });
    const visible: Caller = { ...mia, hiddenProjects: ['shop-c'] };
    expect((await searched({ ...misspelt, project: 'IS_NOT:default' }, visible)).found).toEqual({
      names: ['payment-a', 'payment-b'],
      total: 2,
    });
  });

  it('finds features that contain its text right after the commit, whatever the index contains', async () => {
    await started.features.publish(featureState(aFeature({ name: 'brand-new' })));
    expect((await searched({ query: 'rand-ne', fuzzy: 'true' })).found.names).toEqual(['brand-new']);
    await started.features.publish(deletedFeatureState('brand-new', 2));
    expect((await searched({ query: 'brand-new', fuzzy: 'true' })).found.names).toEqual([]);
  });
});

describe('the index in Meilisearch', () => {
  const generation = () => standIn.indexes.get('features')?.documents.get('mark')?.['marks'];
  /** The index with its documents changed; undefined removes one. */
  const alter = (change: (document: StoredDocument) => StoredDocument | undefined): void => {
    const index = standIn.indexes.get('features');
    if (index === undefined) throw new Error('There is no index.');
    const documents = [...index.documents].flatMap(([id, document]): [string, StoredDocument][] => {
      const changed = change(document);
      return changed === undefined ? [] : [[id, changed]];
    });
    standIn.indexes = new Map(standIn.indexes).set('features', { ...index, documents: new Map(documents) });
  };
  const isBuiltAgain = async (harm: () => unknown): Promise<void> => {
    const before = generation();
    await harm();
    await eventually(async () => {
      expect(generation()).toBeDefined();
      expect(generation()).not.toBe(before);
      expect(await searched()).toEqual({ found: expected, engine: 'meilisearch' });
    });
  };

  it('is rebuilt after it was emptied, with PostgreSQL as the fallback', async () => {
    await isBuiltAgain(async () => {
      await request('DELETE', '/indexes/features/documents');
      expect((await searched()).found).toEqual(expected);
    });
  });
  it('is rebuilt after it was deleted, with PostgreSQL as the fallback', async () => {
    await isBuiltAgain(async () => {
      // It may have been built again before a search.
      await eventually(async () => {
        await request('DELETE', '/indexes/features');
        expect(await searched()).toEqual({ found: expected, engine: 'postgres;reason=building' });
      });
    });
  });
  it.each([
    { searchableAttributes: ['tags'] },
    { typoTolerance: { enabled: false } },
    { rankingRules: ['words'] },
    { stopWords: ['payment'] },
    { synonyms: { payment: ['dark'] } },
    { pagination: { maxTotalHits: 2 } },
  ])('is rebuilt with its settings after they were changed: %j', async (changed) => {
    const settings = () => standIn.indexes.get('features')?.settings;
    const before = settings();
    await isBuiltAgain(() => request('PATCH', '/indexes/features/settings', changed));
    expect(settings()).toEqual(before);
  });
  it('is not believed when another installation has replaced it, and is built again', async () => {
    const foreign = { id: 'ff', generation: 'x', name: 'paymnet', words: 'paymnet', tags: [], archived: 0 };
    await isBuiltAgain(async () => {
      const index = standIn.indexes.get('features');
      if (index === undefined) throw new Error('There is no index.');
      const mark = { ...index.documents.get('mark'), marks: 'x' };
      const documents = new Map<string, StoredDocument>([
        ['ff', foreign],
        ['mark', mark],
      ]);
      standIn.indexes = new Map(standIn.indexes).set('features', { ...index, documents });
      expect((await searched()).found).toEqual(expected);
    });
  });
  it('is rebuilt after a document was lost', () =>
    isBuiltAgain(() => alter((document) => (document['name'] === 'dark-mode' ? undefined : document))));
  it('is rebuilt after it was restored from a backup', async () => {
    const earlier = standIn.indexes;
    await started.features.publish(featureState(aFeature({ name: 'of-today' })));
    await eventually(() => {
      const names = [...(standIn.indexes.get('features')?.documents.values() ?? [])].map(({ name }) => name);
      expect(names).toContain('of-today');
      expect(lastRequests(6).filter(isWrite)).toEqual([]);
    });
    await isBuiltAgain(() => (standIn.indexes = earlier));
  });
  it('receives changes later when they cannot be written for a while', async () => {
    standIn.failing = { type: 'documentAdditionOrUpdate', code: 'internal' };
    await started.features.publish(featureState(aFeature({ name: 'written-late' })));
    await eventually(() => expect(standIn.calls.at(-1)?.path).toMatch('/tasks/'));
    standIn.failing = undefined;
    await eventually(async () => expect((await searched({ query: 'wirtten', fuzzy: 'true' })).found.total).toBe(1));
  });
});
