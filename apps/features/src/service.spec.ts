import { afterAll, beforeAll, expect, it } from 'vitest';
import { AddStrategy, CheckChanges, PatchStrategy, RemoveFeatureTag } from '@bunting/contracts';
import { startNats, type TestNats } from '@bunting/testing';
import { lee, type StartedFeatures, startFeatures } from '../test/started-features.ts';

let nats: TestNats;
let features: StartedFeatures;
beforeAll(async () => {
  nats = await startNats();
  features = await startFeatures(nats.settings);
});
afterAll(async () => {
  await features.stop();
  await nats.stop();
});

it('replies over NATS as in one process, and emits events', async () => {
  await features.create('checkout', { tags: [{ type: 'simple', value: 'über' }] });
  const at = { projectId: 'default', featureName: 'checkout', environment: 'development' };
  const { id: strategyId = '' } = await features.call(AddStrategy, { params: at, body: { name: 'default' } });
  const body = [{ op: 'replace' as const, path: '/title', value: '½ of Åsgard' }];
  expect(await features.call(PatchStrategy, { params: { ...at, strategyId }, body })).toMatchObject({
    title: '½ of Åsgard',
  });
  const tag = { featureName: 'checkout', type: 'simple', value: 'über' };
  expect(await features.call(RemoveFeatureTag, { params: tag })).toBeNull();
  expect(await features.get('checkout')).toMatchObject({
    tags: [],
    environments: [{ strategies: [{ id: strategyId, title: '½ of Åsgard' }] }, { strategies: [] }],
  });
  expect((await features.emittedEvents()).map(({ type }) => type)).toEqual([
    'tag-created',
    'feature-created',
    'feature-strategy-add',
    'feature-strategy-update',
    'feature-untagged',
  ]);
});

it('refuses over NATS with the same message', async () => {
  await expect(features.get('unknown', lee)).rejects.toMatchObject({
    kind: 'NotFoundError',
    message: 'There\'s no feature named "unknown" in project "default".',
  });
  const body = { project: 'moon', environment: 'production', changes: [], earlier: [] };
  await expect(features.call(CheckChanges, { body })).rejects.toMatchObject({ kind: 'NotFoundError' });
});
