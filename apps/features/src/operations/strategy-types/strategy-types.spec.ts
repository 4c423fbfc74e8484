import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import {
  AddStrategy,
  CreateStrategyType,
  DeleteStrategyType,
  DeprecateStrategyType,
  GetStrategyType,
  ListFeatureTypes,
  ListStrategyTypes,
  ReactivateStrategyType,
  SetFeatureTypeLifetime,
  UpdateStrategyType,
} from '@bunting/contracts';
import { lee, type StartedFeatures, startFeatures } from '../../../test/started-features.ts';

let features: StartedFeatures;
beforeAll(async () => {
  features = await startFeatures();
});
afterAll(() => features.stop());
beforeEach(() => features.clearOutbox());

const emitted = async () =>
  (await features.emittedEvents()).map(({ type, data, preData }) => ({ type, data, preData }));

it('creates, updates, deprecates and deletes a strategy type, with events', async () => {
  const params = { name: 'byPlan' };
  const body = { ...params, description: 'by plan', parameters: [{ name: 'plan', required: true }] };
  const created = await features.call(CreateStrategyType, { body });
  const parameters = [{ name: 'plan', type: 'string', description: '', required: true }];
  expect(created).toEqual({
    ...params,
    displayName: 'byPlan',
    title: null,
    description: 'by plan',
    editable: true,
    deprecated: false,
    parameters,
  });
  await expect(features.call(CreateStrategyType, { body })).rejects.toMatchObject({ kind: 'NameExistsError' });
  for (let nth = 0; nth < 2; nth++) {
    await features.call(UpdateStrategyType, { params, body: { title: 'By plan', parameters: [] } });
    await features.call(DeprecateStrategyType, { params });
  }
  expect(await features.call(GetStrategyType, { params })).toMatchObject({ title: 'By plan', deprecated: true });
  await features.call(ReactivateStrategyType, { params });
  await features.create('checkout');
  const at = { projectId: 'default', featureName: 'checkout', environment: 'development' };
  await features.call(AddStrategy, { params: at, body: params });
  await expect(features.call(DeleteStrategyType, { params })).rejects.toMatchObject({
    kind: 'ConflictError',
    message: /checkout/,
  });
  await features.database.transaction(({ query }) => query('truncate feature cascade'));
  await features.call(DeleteStrategyType, { params });
  expect((await emitted()).filter(({ type }) => !type.startsWith('feature'))).toEqual([
    { type: 'strategy-created', data: created, preData: null },
    {
      type: 'strategy-updated',
      data: { ...created, title: 'By plan', displayName: 'By plan', parameters: [] },
      preData: null,
    },
    { type: 'strategy-deprecated', data: params, preData: null },
    { type: 'strategy-reactivated', data: params, preData: null },
    { type: 'strategy-deleted', data: params, preData: null },
  ]);
  for (const operation of [GetStrategyType, UpdateStrategyType, DeleteStrategyType, DeprecateStrategyType]) {
    await expect(features.call(operation, { params, body: { parameters: [] } } as never)).rejects.toMatchObject({
      kind: 'NotFoundError',
      message: 'No strategy found',
    });
  }
});

it('refuses to edit built-in strategy types', async () => {
  const params = { name: 'flexibleRollout' };
  const { strategies } = await features.call(ListStrategyTypes, {});
  expect(strategies.map(({ name, editable }) => [name, editable]).slice(0, 2)).toEqual([
    ['default', false],
    ['flexibleRollout', false],
  ]);
  for (const operation of [UpdateStrategyType, DeleteStrategyType]) {
    await expect(features.call(operation, { params, body: { parameters: [] } } as never)).rejects.toMatchObject({
      kind: 'OperationDeniedError',
    });
  }
  const twice = { name: 'twice', parameters: [{ name: 'a' }, { name: 'a' }] };
  await expect(features.call(CreateStrategyType, { body: twice })).rejects.toMatchObject({
    message: /`\/body\/parameters\/1\/name`/,
  });
});

it('sets the expected lifetime of a feature type', async () => {
  const { types } = await features.call(ListFeatureTypes, {});
  const ids = ['experiment', 'kill-switch', 'operational', 'permission', 'release', 'sunset'];
  expect(types.map(({ id }) => id)).toEqual(ids);
  const params = { id: 'release' };
  const set = (lifetimeDays: number | null) =>
    features.call(SetFeatureTypeLifetime, { params, body: { lifetimeDays } });
  expect(await set(0)).toMatchObject({ id: 'release', lifetimeDays: null });
  await set(null);
  expect(await emitted()).toMatchObject([
    { type: 'feature-type-updated', data: { lifetimeDays: null }, preData: { lifetimeDays: 40 } },
  ]);
  const body = { lifetimeDays: 1 };
  await expect(features.call(SetFeatureTypeLifetime, { params: { id: 'x' }, body })).rejects.toMatchObject({
    kind: 'NotFoundError',
  });
  await expect(features.call(SetFeatureTypeLifetime, { params, body }, lee)).rejects.toMatchObject({
    kind: 'NoAccessError',
  });
});
