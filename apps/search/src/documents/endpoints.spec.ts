import { afterAll, beforeAll, expect, it } from 'vitest';
import { call, systemContext } from '@bunting/bus';
import { GetReindexStatus, StartReindex } from '@bunting/contracts';
import { eventually } from '@bunting/testing';
import { aFeature, featureState, segmentState } from '../../test/builders.ts';
import { type FakeMeilisearch, startFakeMeilisearch } from '../../test/meilisearch/fake-meilisearch.ts';
import { type StartedSearch, startSearch } from '../../test/started-search.ts';

let standIn: FakeMeilisearch;
let started: StartedSearch;
let atFirst: Awaited<ReturnType<typeof last>>;
beforeAll(async () => {
  standIn = await startFakeMeilisearch();
  started = await startSearch({
    MEILI_URL: standIn.url,
    MEILI_POLL_INTERVAL_MS: '50',
    SEARCH_RECONCILE_INTERVAL_MS: '0',
  });
  atFirst = await last();
  const many = Array.from({ length: 700 }, (_, nth) => featureState(aFeature({ name: `f-${nth}`, segments: [1] })));
  await started.features.publish(segmentState(1, 'beta'), ...many);
  await eventually(async () => expect((await started.search({ query: 'f-' })).total).toBe(700));
});
afterAll(async () => {
  await started.stop();
  await standIn.stop();
});

function last() {
  return call(started.bus, GetReindexStatus, {}, systemContext(60_000));
}
function generation() {
  return standIn.indexes.get('features')?.documents.get('mark')?.['marks'];
}

it('get-reindex-status returns that there was no reindexing', () => {
  expect(atFirst).toMatchObject({ state: 'none', startedAt: null, finishedAt: null });
});

it('reindexing rewrites all documents and the Meilisearch index during searches, and reports its progress', async () => {
  await eventually(() => expect(generation()).toBeDefined());
  const before = generation();
  await started.database.transaction(({ query }) =>
    query(`update feature_lookup set tags = '{simple:wrong}' where name in ('f-3', 'f-600')`),
  );
  expect((await started.search({ tag: 'INCLUDE:simple:wrong' })).total).toBe(2);
  const begun = await call(started.bus, StartReindex, {}, systemContext(60_000));
  expect(begun).toMatchObject({ state: 'running', finishedAt: null });
  await eventually(async () => {
    expect((await started.search({ query: 'f-', segment: 'INCLUDE:beta' })).total).toBe(700);
    expect(await last()).toMatchObject({ state: 'done', done: 701, all: 701, reason: null });
  });
  expect((await started.search({ tag: 'INCLUDE:simple:wrong' })).total).toBe(0);
  await eventually(() => expect(generation()).not.toBe(before));
});

it('reindexing fails with a reason while the features service is unavailable, and can be started again', async () => {
  await started.features.goOffline();
  await call(started.bus, StartReindex, {}, systemContext(60_000));
  await eventually(async () => expect(await last()).toMatchObject({ state: 'failed', reason: expect.any(String) }));
  await started.features.comeOnline();
  await call(started.bus, StartReindex, {}, systemContext(60_000));
  await eventually(async () => expect((await last()).state).toBe('done'));
});
