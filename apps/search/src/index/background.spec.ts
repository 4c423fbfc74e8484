import { eventually } from '@bunting/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { aFeature, featureState, segmentState } from '../../test/builders.ts';
import { describeFeatureSearch } from '../../test/feature-search-behaviour.ts';
import { type FakeMeilisearch, startFakeMeilisearch } from '../../test/meilisearch/fake-meilisearch.ts';
import {
  realServer,
  type StartedMeilisearch,
  startOnFreshDatabase,
  type StartOptions,
} from '../../test/meilisearch/started-meilisearch.ts';
import { parseFeatureQuery } from '../search/feature-query.ts';
import { documentIdOf, featureNameOf } from './index-document.ts';

async function engineAt(where: StartOptions, leave: () => Promise<void>) {
  const started = await startOnFreshDatabase(where);
  return {
    index: started.index,
    apply: async (states: Parameters<typeof started.apply>[0]) => {
      await started.apply(states);
      await started.level();
    },
    stop: async () => {
      const expectedReasons = ['unsupported', 'no-hits'];
      const fallbacks = started.answers.flatMap((answer) => (answer.engine === 'postgres' ? answer.reason : []));
      expect(fallbacks.filter((reason) => !expectedReasons.includes(reason))).toEqual([]);
      if (started.answers.length > 0) expect(started.answers.length).toBeGreaterThan(fallbacks.length);
      await started.stop();
      await leave();
    },
  };
}

// `npm run test:meilisearch` runs the same suite against a real server.
if (process.env['TEST_MEILISEARCH'] === 'real') {
  describeFeatureSearch('with a real Meilisearch', () => {
    const { leave, ...where } = realServer();
    return engineAt(where, leave);
  });
} else {
  describeFeatureSearch('with Meilisearch', async () => {
    const standIn = await startFakeMeilisearch();
    return engineAt({ url: standIn.url }, () => standIn.stop());
  });
}

it('names of features are decoded from document ids only', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (name) => {
      expect(featureNameOf(documentIdOf(name))).toBe(name);
    }),
  );
  for (const id of ['zz', 'FF', 'ff', 'mark', 7, null, undefined, {}]) expect(featureNameOf(id)).toBeUndefined();
});

describe('an idle index', () => {
  let standIn: FakeMeilisearch;
  let started: StartedMeilisearch;
  beforeAll(async () => {
    standIn = await startFakeMeilisearch();
    started = await startOnFreshDatabase({ url: standIn.url, checkIntervalMs: 3_600_000 });
  });
  afterAll(async () => {
    await started.stop();
    await standIn.stop();
  });

  it('the search service sends Meilisearch nothing between two checks except changes that its filters and texts depend on', async () => {
    const feature = aFeature({ name: 'first', segments: [1] });
    await started.apply([segmentState(1, 'before'), featureState(feature)]);
    await started.level();
    await eventually(() => expect(started.work.map(({ kind }) => kind)).toContain('checked'));
    const before = standIn.calls.length;
    await started.apply([
      segmentState(1, 'after', 2),
      featureState({ ...feature, favoritedBy: [7], description: 'more' }, 2),
    ]);
    await started.apply([featureState(aFeature({ name: 'second' }))]);
    await started.level();
    const request = standIn.calls.slice(before).map(({ method, path }) => `${method} ${path.replace(/\d+$/, '')}`);
    expect([...new Set(request)].toSorted()).toEqual([
      'GET /indexes/features/documents/mark',
      'GET /tasks/',
      'POST /indexes/features/documents',
    ]);
    const writes = standIn.calls.slice(before).flatMap(({ body }) => (Array.isArray(body) ? [body] : []));
    // The feature and how far the index is are one write, which is repeated while an older transaction goes on in the same PostgreSQL.
    const written = writes.map((documents) => documents.map(({ name }) => name ?? 'how far the index is').toSorted());
    expect(written).toContainEqual(['how far the index is', 'second']);
    expect(new Set(written.map((documents) => documents.join()))).toHaveLength(1);
  });
});

describe('an API key', () => {
  /** What the README says that a key must be allowed. */
  const needed = [
    'search',
    'documents.add',
    'documents.get',
    'documents.delete',
    'indexes.create',
    'indexes.delete',
    'indexes.swap',
    'settings.get',
    'settings.update',
    'stats.get',
    'tasks.get',
  ];
  const keys = [
    { key: 'enough', actions: needed, indexes: ['features', 'features_next'] },
    { key: 'for-reading', actions: ['search'], indexes: ['*'] },
  ];

  let standIn: FakeMeilisearch;
  let started: StartedMeilisearch | undefined;
  beforeAll(async () => {
    standIn = await startFakeMeilisearch({ masterKey: 'a-master-key-of-sixteen-bytes', keys });
  });
  afterEach(async () => {
    await started?.stop();
  });
  afterAll(() => standIn.stop());

  const mia = { userId: 7, hiddenProjects: [] };

  it('Meilisearch is used with the documented actions on two indexes only', async () => {
    started = await startOnFreshDatabase({ url: standIn.url, key: 'enough' });
    await started.apply([featureState(aFeature({ name: 'payment' }))]);
    await started.level();
    const total = async () =>
      (await started?.index.search(parseFeatureQuery({ query: 'paymnet', fuzzy: 'true' }), mia))?.total;
    expect(await total()).toBe(1);
    await started.apply([{ entity: 'feature', id: 'payment', version: 2, state: null }]);
    await started.level();
    expect(await total()).toBe(0);
    expect(started.answers).toMatchObject([{ engine: 'meilisearch' }, { engine: 'postgres', reason: 'no-hits' }]);
  });

  it.each([
    ['a wrong key', 'wrong', '403 invalid_api_key'],
    ['a key that may only read', 'for-reading', '403 invalid_api_key'],
    ['no key', undefined, '401 missing_authorization_header'],
  ])('a warning explains %s, once and without the key', async (_name, key, reason) => {
    started = await startOnFreshDatabase({ url: standIn.url, uid: 'elsewhere', ...(key === undefined ? {} : { key }) });
    const { warnings, index, answers } = started;
    await eventually(() =>
      expect(warnings).toContain(`The update of the index in Meilisearch failed and is retried: it answered ${reason}`),
    );
    await index.search(parseFeatureQuery({ query: 'x', fuzzy: 'true' }), mia);
    expect(answers).toMatchObject([{ engine: 'postgres' }]);
    expect(warnings.filter((warning) => warning.includes(reason))).toHaveLength(1);
    expect(warnings.join()).not.toContain(key ?? 'Bearer');
  });
});
