import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { CreateProject, DisableFeatures, EnableFeatures } from '@bunting/contracts';
import { aFeature, aStrategy } from '../../test/builders.ts';
import { lee, mia, callerWith, type StartedFeatures, startFeatures } from '../../test/started-features.ts';

let features: StartedFeatures;
beforeAll(async () => {
  features = await startFeatures();
  await features.call(CreateProject, { body: { id: 'shop', name: 'shop' } });
  await features.given(aFeature({ name: 'foreign', project: 'default' }));
  await features.given(aFeature({ name: 'old', archivedAt: '2026-01-02T00:00:00.000Z' }));
});
afterAll(() => features.stop());

let nth = 0;
let [empty, sleeper, awake] = ['', '', ''];
beforeEach(async () => {
  nth += 1;
  [empty, sleeper, awake] = [`empty-${nth}`, `sleeper-${nth}`, `awake-${nth}`];
  await features.given(
    aFeature({ name: empty }),
    aFeature({ name: sleeper, strategies: [aStrategy({ id: sleeper, disabled: true })] }),
    aFeature({ name: awake, enabled: true, strategies: [aStrategy({ id: awake })] }),
  );
  await features.clearOutbox();
});

const at = (environment = 'development') => ({ projectId: 'shop', environment });
const enable = (names: string[], { activate = false, caller = mia, params = at() } = {}) => {
  const query = { shouldActivateDisabledStrategies: activate };
  return features.call(EnableFeatures, { params, query, body: { features: names } }, caller);
};
const disable = (names: string[], caller = mia, params = at()) =>
  features.call(DisableFeatures, { params, body: { features: names } }, caller);
const emitted = async () => (await features.emittedEvents()).map(({ type, featureName }) => [type, featureName]);

it('enables features in bulk with an active strategy each, and disables them, with events for changes only', async () => {
  await enable([sleeper, empty, awake]);
  expect(await emitted()).toEqual([
    ['feature-strategy-add', empty],
    ['feature-environment-enabled', empty],
    ['feature-strategy-add', sleeper],
    ['feature-environment-enabled', sleeper],
  ]);
  await features.clearOutbox();
  await disable([awake, empty, sleeper]);
  await disable([awake, empty, sleeper]);
  expect(await emitted()).toEqual([awake, empty, sleeper].map((name) => ['feature-environment-disabled', name]));
});

it('enables disabled strategies in bulk if the query demands it', async () => {
  await enable([sleeper], { activate: true });
  expect(await emitted()).toEqual([
    ['feature-strategy-update', sleeper],
    ['feature-environment-enabled', sleeper],
  ]);
});

it('switches all features of a bulk request or none', async () => {
  for (const [bad, kind] of [
    ['unknown', 'NotFoundError'],
    ['foreign', 'NotFoundError'],
    ['old', 'ArchivedFeatureError'],
  ] as const) {
    await expect(enable([empty, bad])).rejects.toMatchObject({ kind });
    await expect(disable([awake, bad])).rejects.toMatchObject({ kind });
  }
  await expect(enable([empty], { params: at('moon') })).rejects.toMatchObject({ kind: 'NotFoundError' });
  await expect(disable([awake], mia, at('moon'))).rejects.toMatchObject({ kind: 'NotFoundError' });
  expect(await features.emittedEvents()).toEqual([]);
});

it('switching in bulk takes the permission to switch, and to add strategies if a feature gets its first', async () => {
  const switcher = callerWith({ permission: 'UPDATE_FEATURE_ENVIRONMENT', environment: 'development' });
  await expect(enable([awake, empty], { caller: switcher })).rejects.toMatchObject({
    permissions: ['CREATE_FEATURE_STRATEGY'],
  });
  await expect(enable([awake], { caller: lee })).rejects.toMatchObject({ permissions: ['UPDATE_FEATURE_ENVIRONMENT'] });
  await expect(disable([awake], lee)).rejects.toMatchObject({ permissions: ['UPDATE_FEATURE_ENVIRONMENT'] });
  await disable([awake], switcher);
  await enable([awake], { caller: switcher });
});
