import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Answer } from '@bunting/bus';
import { eventually } from '@bunting/testing';
import { aFeature, featureTold, inEnvironment, segmentTold, tagged } from '../../test/builders.ts';
import type { StoredDocument } from '../../test/meilisearch/facets.ts';
import {
  type Call,
  type Disk,
  type MeilisearchStandIn,
  type Reply,
  startMeilisearchStandIn,
} from '../../test/meilisearch/stand-in.ts';
import { type StartedSearch, startSearch } from '../../test/started-search.ts';

const engineOf = (answer: Answer): string | undefined =>
  'reply' in answer ? answer.reply.headers['Bunting-Search-Engine'] : undefined;

/** The disk with the documents of the index changed; undefined takes one away. */
const alteredDisk = (disk: Disk, alter: (document: StoredDocument) => StoredDocument | undefined): Disk => {
  const index = disk.indexes.get('features');
  if (index === undefined) throw new Error('There is no index.');
  const documents = [...index.documents].flatMap(([id, document]): [string, StoredDocument][] => {
    const kept = alter(document);
    return kept === undefined ? [] : [[id, kept]];
  });
  return { ...disk, indexes: new Map(disk.indexes).set('features', { ...index, documents: new Map(documents) }) };
};

const isSearch = ({ path }: Call): boolean => path === '/multi-search';

/** The reply to a search with the hits of the page changed. */
const withHits = (reply: Reply, change: (hits: StoredDocument[]) => StoredDocument[]): Reply => {
  const { results } = reply.json as { results: { hits: StoredDocument[] }[] };
  const page = results.at(-1);
  const changed = page === undefined ? results : [...results.slice(0, -1), { ...page, hits: change(page.hits) }];
  return { ...reply, json: { results: changed } };
};

let standIn: MeilisearchStandIn;
let started: StartedSearch;

const asked = { tag: 'INCLUDE:simple:red', sortBy: 'name', limit: '3' };
const expected = { names: ['red-0', 'red-1', 'red-2'], total: 5 };

/** What the same search answers, and from which engine. */
const searched = async (query: Parameters<StartedSearch['answer']>[0] = asked) => {
  const answer = await started.answer(query);
  if ('refused' in answer) throw new Error(answer.refused.error.message);
  const { features, total } = JSON.parse(answer.reply.json) as { features: { name: string }[]; total: number };
  return { found: { names: features.map(({ name }) => name), total }, engine: engineOf(answer) };
};

const answeredByMeilisearch = () =>
  eventually(async () => expect(await searched()).toEqual({ found: expected, engine: 'meilisearch' }), {
    timeoutMs: 30_000,
  });

/** As somebody else who has a key. */
const post = (method: string, path: string, body?: unknown): Promise<Response> =>
  fetch(`${standIn.url}${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

beforeAll(async () => {
  standIn = await startMeilisearchStandIn();
  started = await startSearch({ MEILI_URL: standIn.url, MEILI_TIMEOUT_MS: '600', MEILI_CHECK_INTERVAL_MS: '1000' });
  await started.features.tell(
    ...[0, 1, 2, 3, 4].map((nth) => featureTold(aFeature({ name: `red-${nth}`, tags: tagged('simple:red') }))),
    ...[0, 1, 2].map((nth) => featureTold(aFeature({ name: `blue-${nth}`, project: 'shop' }))),
  );
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

describe('a search, when Meilisearch', () => {
  const troubles: readonly [string, string, (call: Call, reply: Reply) => Reply][] = [
    ['answers 500', 'refused', () => ({ status: 500, json: { message: 'x', code: 'internal' } })],
    [
      'has too much to do',
      'refused',
      () => ({ status: 503, json: { message: 'x', code: 'too_many_search_requests' } }),
    ],
    ['is behind a proxy that is alone', 'garbled', () => ({ status: 502, text: '<html>Bad Gateway</html>' })],
    [
      'answers half of its answer',
      'garbled',
      (_call, { json }) => ({ status: 200, text: JSON.stringify(json).slice(0, 90) }),
    ],
    ['answers something else', 'garbled', () => ({ status: 200, json: { results: 'none' } })],
    ['answers null', 'garbled', () => ({ status: 200, json: null })],
    ['hangs up', 'unreachable', () => ({ status: 200, hangsUp: true })],
    ['takes three seconds', 'late', (_call, reply) => ({ ...reply, delayMs: 3_000 })],
    ['leaves hits out', 'capped', (_call, reply) => withHits(reply, (hits) => hits.slice(1))],
  ];
  it.each(troubles)('%s, is answered the same, by PostgreSQL, which is said', async (_name, reason, meddle) => {
    standIn.meddle = (call, reply) => (isSearch(call) ? meddle(call, reply) : reply);
    const { found, engine } = await searched();
    expect(found).toEqual(expected);
    // It is looked after beside the searches as well, and may have been given up already.
    expect([`postgres;reason=${reason}`, 'postgres;reason=open']).toContain(engine);
  });

  it('says itself that it did not look at everything, is answered by PostgreSQL', async () => {
    standIn.meddle = (call, reply) => {
      if (!isSearch(call)) return reply;
      const { results } = reply.json as { results: object[] };
      return { ...reply, json: { results: results.map((result) => ({ ...result, degraded: true })) } };
    };
    const { found, engine } = await searched();
    expect(found).toEqual(expected);
    expect(['postgres;reason=degraded', 'postgres;reason=open']).toContain(engine);
  });

  it('is slow, asks it no more within five seconds, and asks again when it is not', async () => {
    standIn.meddle = (call, reply) => (isSearch(call) ? { ...reply, delayMs: 3_000 } : reply);
    const began = performance.now();
    await eventually(async () => expect((await searched()).engine).toBe('postgres;reason=open'));
    expect(performance.now() - began).toBeLessThan(5_000);
    const again = performance.now();
    expect((await searched()).found).toEqual(expected);
    expect(performance.now() - again).toBeLessThan(900);
  });

  it('is stopped, is answered the same, and comes from Meilisearch once that is back', async () => {
    await standIn.leave();
    for (let nth = 0; nth < 5; nth++) expect((await searched()).found).toEqual(expected);
    await started.features.tell(featureTold(aFeature({ name: 'told-meanwhile' })));
    expect((await searched({ query: 'told-meanwhile' })).found.names).toEqual(['told-meanwhile']);
    await standIn.comeBack();
    await eventually(async () => {
      expect(await searched({ query: 'told-meanwhile' })).toEqual({
        found: { names: ['told-meanwhile'], total: 1 },
        engine: 'meilisearch',
      });
    });
  });
});

describe('a search, when the index', () => {
  /** Searches until Meilisearch answers again, and holds every answer on the way to what is right. */
  const rightUntilRebuilt = async () => {
    const engines = new Set<string | undefined>();
    await eventually(
      async () => {
        const { found, engine } = await searched();
        engines.add(engine);
        if (JSON.stringify(found) !== JSON.stringify(expected))
          throw new Error(`It answered ${JSON.stringify(found)}.`);
        expect(found).toEqual(expected);
        expect(engine).toBe('meilisearch');
      },
      { timeoutMs: 30_000 },
    );
    return engines;
  };
  /** Every answer is right, one at least comes from PostgreSQL, and the index is another one in the end. */
  const isHealed = async (harm: () => unknown) => {
    const mark = () => standIn.disk.indexes.get('features')?.documents.get('mark')?.['generation'];
    const before = mark();
    await harm();
    const first = await searched();
    expect(first.found).toEqual(expected);
    await eventually(
      async () => {
        expect((await searched()).found).toEqual(expected);
        expect(mark()).not.toBe(before);
        expect(mark()).toBeDefined();
      },
      { timeoutMs: 30_000 },
    );
    await rightUntilRebuilt();
    return first.engine;
  };

  it('is emptied by somebody else', async () => {
    await isHealed(() => post('DELETE', '/indexes/features/documents'));
  });
  it('is emptied without a task to show for it', async () => {
    const engine = await isHealed(() => standIn.replaceDisk(alteredDisk(standIn.disk, () => undefined)));
    expect(engine).toMatch(/^postgres/);
  });
  it('is deleted', async () => {
    await isHealed(() => post('DELETE', '/indexes/features'));
  });
  it('is set otherwise', async () => {
    await isHealed(() => post('PATCH', '/indexes/features/settings', { pagination: { maxTotalHits: 2 } }));
  });
  it('is given a document that there is none of', async () => {
    const document = { id: 'ff', version: 1, archived: 0, tags: ['simple_3ared'] };
    await isHealed(() => post('POST', '/indexes/features/documents?primaryKey=id', [document]));
  });
  it('is altered where the search looks', async () => {
    const engine = await isHealed(() =>
      standIn.replaceDisk(
        alteredDisk(standIn.disk, (document) =>
          document['name'] === 'blue-0' ? { ...document, tags: ['simple_3ared'] } : document,
        ),
      ),
    );
    expect(engine).toBe('postgres;reason=altered');
  });
  it('is altered so that a feature is missing', async () => {
    const engine = await isHealed(() =>
      standIn.replaceDisk(
        alteredDisk(standIn.disk, (document) => (document['name'] === 'red-4' ? { ...document, tags: [] } : document)),
      ),
    );
    expect(engine).toBe('postgres;reason=altered');
  });
  it('is altered where no search looks', async () => {
    await isHealed(() =>
      standIn.replaceDisk(
        alteredDisk(standIn.disk, (document) =>
          document['name'] === 'blue-2' ? { ...document, project: 'default' } : document,
        ),
      ),
    );
  });
  it('is a copy of yesterday, tasks and all', async () => {
    const yesterday = standIn.disk;
    await started.features.tell(featureTold(aFeature({ name: 'of-today', tags: tagged('simple:blue') })));
    await eventually(async () =>
      expect(await searched({ query: 'of-today' })).toEqual({
        found: { names: ['of-today'], total: 1 },
        engine: 'meilisearch',
      }),
    );
    await isHealed(() => standIn.replaceDisk(yesterday));
    expect((await searched({ query: 'of-today' })).found.total).toBe(1);
  });
  it('cannot be written for a while', async () => {
    standIn.failing = { type: 'documentAdditionOrUpdate', code: 'internal' };
    await started.features.tell(featureTold(aFeature({ name: 'written-late', tags: tagged('simple:blue') })));
    for (let nth = 0; nth < 5; nth++) {
      const { found, engine } = await searched({ query: 'written-late' });
      expect({ found, engine }).toEqual({
        found: { names: ['written-late'], total: 1 },
        engine: 'postgres;reason=behind',
      });
    }
    standIn.failing = undefined;
    await eventually(async () => expect((await searched({ query: 'written-late' })).engine).toBe('meilisearch'), {
      timeoutMs: 30_000,
    });
  });
});

describe('a hit', () => {
  it.each([
    ['of a feature that there is none of', (hits: StoredDocument[]) => [{ id: 'ff', version: 1 }, ...hits.slice(1)]],
    ['that is none', (hits: StoredDocument[]) => [{ id: 7, version: {} }, ...hits.slice(1)]],
    [
      'of a feature that does not fit',
      (hits: StoredDocument[]) => [{ id: Buffer.from('blue-0').toString('hex'), version: 1 }, ...hits.slice(1)],
    ],
    ['of an earlier state', (hits: StoredDocument[]) => hits.map((hit) => ({ ...hit, version: 1 }))],
    ['that comes twice', (hits: StoredDocument[]) => [...hits.slice(1), ...hits.slice(-1)]],
    ['in another place', (hits: StoredDocument[]) => hits.toReversed()],
  ])('%s is never given on', async (_name, change) => {
    standIn.meddle = (call, reply) => {
      const { queries } = (call.body ?? {}) as { queries?: unknown[] };
      return isSearch(call) && queries?.length === 3 ? withHits(reply, change) : reply;
    };
    expect((await searched()).found).toEqual(expected);
  });
});

describe('what was just changed', () => {
  it('is found at once, whichever engine answers: a feature, a tag, a switch, a name of a segment, an end', async () => {
    const { features, names } = started;
    const fresh = (version: number, more: Parameters<typeof aFeature>[0] = {}) =>
      featureTold(aFeature({ name: 'fresh', segments: [1], ...more }), version);
    for (const isMeilisearchLevel of [false, true]) {
      const settle = async () => {
        if (isMeilisearchLevel) await answeredByMeilisearch();
      };
      const from = isMeilisearchLevel ? 10 : 0;
      await features.tell(segmentTold(1, `beta-${from}`, from + 1), fresh(from + 1));
      expect(await names({ query: 'FRESH' })).toEqual(['fresh']);
      await settle();
      await features.tell(fresh(from + 2, { tags: tagged('simple:new') }));
      expect(await names({ tag: 'INCLUDE:simple:new' })).toEqual(['fresh']);
      await settle();
      await features.tell(fresh(from + 3, { environments: [inEnvironment('production', { enabled: true })] }));
      expect(await names({ status: ['production:enabled'] })).toEqual(['fresh']);
      await settle();
      await features.tell(segmentTold(1, `gamma-${from}`, from + 2));
      expect(await names({ segment: `INCLUDE:gamma-${from}` })).toEqual(['fresh']);
      expect(await names({ segment: `INCLUDE:beta-${from}` })).toEqual([]);
      await features.tell({ entity: 'feature', id: 'fresh', version: from + 4, state: null });
      expect(await names({ query: 'fresh' })).toEqual([]);
    }
  });
});
