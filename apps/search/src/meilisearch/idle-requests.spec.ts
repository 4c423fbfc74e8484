import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '@bunting/testing';
import { aFeature, featureState, segmentState } from '../../test/builders.ts';
import { type FakeMeilisearch, startFakeMeilisearch } from '../../test/meilisearch/fake-meilisearch.ts';
import { startOnFreshDatabase, type StartedMeilisearch } from '../../test/meilisearch/started-meilisearch.ts';

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

it('the search service sends Meilisearch nothing between two checks except a changed name, tag or archiving', async () => {
  const feature = aFeature({ name: 'first', segments: [1] });
  await started.apply([segmentState(1, 'before'), featureState(feature)]);
  await started.level();
  await eventually(() => expect(started.work.map(({ kind }) => kind)).toContain('checked'));
  const before = standIn.calls.length;
  await started.apply([segmentState(1, 'after', 2), featureState({ ...feature, stale: true, description: 'more' }, 2)]);
  await started.apply([featureState(aFeature({ name: 'second' }))]);
  await started.level();
  const request = standIn.calls.slice(before).map(({ method, path }) => `${method} ${path.replace(/\d+$/, '')}`);
  expect([...new Set(request)].toSorted()).toEqual([
    'GET /indexes/features/documents/mark',
    'GET /tasks/',
    'POST /indexes/features/documents',
  ]);
  const written = standIn.calls.slice(before).flatMap(({ body }) => (Array.isArray(body) ? body : []));
  expect(written.map(({ name }) => name).filter((name) => name !== undefined)).not.toContain('first');
});
