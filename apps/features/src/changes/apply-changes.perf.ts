import { ApplyChanges, type Change, CheckChanges, PreviewChanges } from '@bunting/contracts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { aFeature } from '../../test/builders.ts';
import { type StartedFeatures, startFeatures } from '../../test/started-features.ts';

const [project, environment] = ['default', 'development'];
const names = Array.from({ length: 100 }, (_, nth) => `flag-${nth}`);
const enable = (feature: string): Change => ({ action: 'updateEnabled', feature, payload: { enabled: true } });
const addStrategy = (feature: string): Change => ({
  action: 'addStrategy',
  feature,
  payload: { name: 'flexibleRollout', constraints: [], parameters: { rollout: '5' } },
});

let service: StartedFeatures;
beforeAll(async () => {
  service = await startFeatures();
  await service.given(...names.map((name) => aFeature({ name, project })));
});
afterAll(() => service.stop());

const millisecondsOf = async (job: () => Promise<unknown>): Promise<number> => {
  const startedAt = performance.now();
  await job();
  return performance.now() - startedAt;
};

it('previews 300 change requests within a second', async () => {
  const requests = Array.from({ length: 300 }, (_, id) => ({
    environment,
    changes: [{ id, change: enable('flag-0'), snapshot: null }],
  }));
  const body = { project, withStates: false, requests };
  expect(await millisecondsOf(() => service.call(PreviewChanges, { body }))).toBeLessThan(1000);
});

it('checks 200 changes on top of 200 earlier ones within a second', async () => {
  const body = { project, environment, changes: names.flatMap((name) => [addStrategy(name), enable(name)]) };
  const request = { body: { ...body, earlier: body.changes } };
  expect(await millisecondsOf(() => service.call(CheckChanges, request))).toBeLessThan(1000);
});

it('applies 200 changes to 100 features within two seconds', async () => {
  const changes = names
    .flatMap((name) => [addStrategy(name), enable(name)])
    .map((change, nth) => ({ id: nth + 1, change, snapshot: null }));
  const body = { changeRequestId: 31, attempt: 1, project, environment, changes, refuseOverwrites: false };
  expect(await millisecondsOf(() => service.call(ApplyChanges, { body }))).toBeLessThan(2000);
});
