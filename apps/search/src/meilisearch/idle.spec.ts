import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { eventually } from '@bunting/testing';
import { aFeature, featureTold } from '../../test/builders.ts';
import { type MeilisearchStandIn, startMeilisearchStandIn } from '../../test/meilisearch/stand-in.ts';
import { startOnFreshDatabase, type StartedMeilisearch } from '../../test/meilisearch/started.ts';

let standIn: MeilisearchStandIn;
let started: StartedMeilisearch;
beforeAll(async () => {
  standIn = await startMeilisearchStandIn();
  started = await startOnFreshDatabase({ url: standIn.url, intervalMs: 20, checkIntervalMs: 3_600_000 });
});
afterAll(async () => {
  await started.stop();
  await standIn.stop();
});

it('Meilisearch is asked nothing between two checks but what following a change takes', async () => {
  const state = (name: string) => featureTold(aFeature({ name }));
  await started.apply([state('first')]);
  await started.level();
  await eventually(() => expect(started.work.map(({ kind }) => kind)).toContain('audited'));
  const before = standIn.calls.length;
  for (const name of ['second', 'third']) {
    await started.apply([state(name)]);
    await started.level();
  }
  const asked = standIn.calls.slice(before).map(({ method, path }) => `${method} ${path.replace(/\d+$/, '')}`);
  expect([...new Set(asked)].toSorted()).toEqual(['GET /tasks/', 'POST /indexes/features/documents']);
});
