import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import {
  type Constraint,
  DeleteStrategy,
  GetFeatureEnvironment,
  GetStrategy,
  ListStrategies,
  SetStrategyOrder,
  UpdateStrategy,
  type UpdateStrategyBody,
} from '@bunting/contracts';
import { randomUUID } from 'node:crypto';
import { aFeature, aStrategy } from '../../test/builders.ts';
import { lee, mia, callerWith, type StartedFeatures, startFeatures } from '../../test/started-features.ts';

let features: StartedFeatures;
beforeAll(async () => {
  features = await startFeatures();
});
afterAll(() => features.stop());

const constraint: Constraint = {
  contextName: 'userId',
  operator: 'IN',
  values: ['7'],
  inverted: false,
  caseInsensitive: false,
};

/** A new feature for each test, enabled in development with two strategies: the first has a constraint, the second is disabled. */
let featureName: string;
let first: string;
let second: string;
beforeEach(async () => {
  featureName = `feature-${randomUUID()}`;
  [first, second] = [randomUUID(), randomUUID()];
  const strategies = [
    aStrategy({ id: first, title: 'Seven', constraints: [constraint], parameters: { a: '1' } }),
    aStrategy({ id: second, disabled: true, sortOrder: 1 }),
  ];
  await features.given(aFeature({ name: featureName, project: 'default', enabled: true, strategies }));
  await features.clearOutbox();
});

const at = (environment = 'development') => ({ projectId: 'default', featureName, environment });
const of = (strategyId: string, environment?: string) => ({ ...at(environment), strategyId });
const list = () => features.call(ListStrategies, { params: at() });
const read = (strategyId: string) => features.call(GetStrategy, { params: of(strategyId) });
const put = (body: UpdateStrategyBody, params = of(first), caller = mia) =>
  features.call(UpdateStrategy, { params, body }, caller);
const remove = (strategyId: string, caller = mia) => features.call(DeleteStrategy, { params: of(strategyId) }, caller);
const order = (body: { id: string; sortOrder: number }[], params = at(), caller = mia) =>
  features.call(SetStrategyOrder, { params, body }, caller);
const types = async () => (await features.emittedEvents()).map(({ type }) => type);

it('returns strategies in their order, and a single one', async () => {
  expect((await list()).map(({ id }) => id)).toEqual([first, second]);
  expect(await read(first)).toMatchObject({ id: first, title: 'Seven', constraints: [constraint], segments: [] });
  expect(await features.call(GetFeatureEnvironment, { params: at() })).toMatchObject({
    name: featureName,
    environment: 'development',
    enabled: true,
    strategies: [
      { id: first, featureName },
      { id: second, featureName },
    ],
  });
  expect(await features.call(GetFeatureEnvironment, { params: at('production') })).toMatchObject({
    enabled: false,
    strategies: [],
  });
});

it('refuses unknown strategies, features and environments', async () => {
  for (const params of [of(randomUUID()), of(first, 'production'), { ...of(first), featureName: 'unknown' }]) {
    for (const operation of [GetStrategy, DeleteStrategy]) {
      await expect(features.call(operation, { params })).rejects.toMatchObject({ kind: 'NotFoundError' });
    }
    await expect(put({}, params)).rejects.toMatchObject({ kind: 'NotFoundError' });
  }
  for (const params of [at('moon'), { ...at(), projectId: 'moon' }]) {
    for (const operation of [ListStrategies, GetFeatureEnvironment]) {
      await expect(features.call(operation, { params })).rejects.toMatchObject({ kind: 'NotFoundError' });
    }
    await expect(order([], params)).rejects.toMatchObject({ kind: 'NotFoundError' });
  }
});

it('an update replaces constraints and variants, keeps omitted properties, and emits both contents', async () => {
  const reply = await put({ title: null, disabled: null, sortOrder: 9 });
  expect(reply).toMatchObject({
    title: 'Seven',
    disabled: false,
    constraints: [],
    parameters: { a: '1' },
    sortOrder: 0,
  });
  expect(await read(first)).toEqual(reply);
  const [event, ...others] = await features.emittedEvents();
  expect(others).toEqual([]);
  expect(event).toMatchObject({
    type: 'feature-strategy-update',
    project: 'default',
    featureName,
    environment: 'development',
    preData: { constraints: [constraint] },
    data: { constraints: [] },
  });
  await put({});
  expect(await types()).toHaveLength(1);
});

it('fills in the default parameters of a gradual rollout', async () => {
  expect(await put({ name: 'flexibleRollout', parameters: { rollout: '5' } })).toMatchObject({
    parameters: { rollout: '5', stickiness: 'default', groupId: featureName },
  });
});

it('disables the feature when its last active strategy is disabled or deleted, with an event', async () => {
  await put({ constraints: [constraint], disabled: true });
  expect(await types()).toEqual(['feature-strategy-update', 'feature-environment-disabled']);
});

it('deletes a strategy after disabling a feature without another active one', async () => {
  await remove(second);
  await remove(first);
  expect(await types()).toEqual(['feature-strategy-remove', 'feature-environment-disabled', 'feature-strategy-remove']);
  expect((await features.emittedEvents())[0]).toMatchObject({ environment: 'development', preData: { id: second } });
  expect(await list()).toEqual([]);
});

it('reorders strategies, with an event only if the order changes', async () => {
  await order([{ id: first, sortOrder: 5 }]);
  await order([{ id: first, sortOrder: 5 }]);
  await order([]);
  expect((await list()).map(({ id }) => id)).toEqual([second, first]);
  expect(await features.emittedEvents()).toMatchObject([
    {
      type: 'strategy-order-changed',
      preData: { strategyIds: [first, second] },
      data: { strategyIds: [second, first] },
    },
  ]);
  await expect(order([{ id: randomUUID(), sortOrder: 1 }])).rejects.toMatchObject({
    kind: 'ValidationError',
    message: /\/body\/0\/id/,
  });
});

it('refuses an invalid update of a strategy, names the property, and stores nothing', async () => {
  await expect(put({ name: 'magic' })).rejects.toMatchObject({ kind: 'ValidationError', message: /\/body\/name/ });
  await expect(put({ constraints: [{ contextName: 'userId', operator: 'IN', values: [] }] })).rejects.toMatchObject({
    kind: 'ValidationError',
    message: /\/body\/constraints\/0\/values/,
  });
  expect(await features.emittedEvents()).toEqual([]);
});

it('changes strategies only with the permission in the environment', async () => {
  const production = { project: 'default', environment: 'production' };
  const updater = callerWith({ permission: 'UPDATE_FEATURE_STRATEGY', ...production });
  await expect(put({}, of(first), updater)).rejects.toMatchObject({ permissions: ['UPDATE_FEATURE_STRATEGY'] });
  await expect(order([], at(), updater)).rejects.toMatchObject({ permissions: ['UPDATE_FEATURE_STRATEGY'] });
  await expect(remove(first, lee)).rejects.toMatchObject({ permissions: ['DELETE_FEATURE_STRATEGY'] });
});
