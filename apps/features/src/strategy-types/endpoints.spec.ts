import { beforeEach, expect, it } from 'vitest';
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
import { lee, useFeatures } from '../../test/started-features.ts';

const features = useFeatures();
beforeEach(() => features.clearOutbox());

const emitted = async () =>
  (await features.emittedEvents()).map(({ type, data, preData }) => ({ type, data, preData }));

/** Creates a strategy type with a name of its own. */
const create = async (name: string) => {
  const body = { name, description: 'by plan', parameters: [{ name: 'plan', required: true }] };
  const created = await features.call(CreateStrategyType, { body });
  return { body, created, params: { name } };
};

it('creates a strategy type with defaults, and emits it', async () => {
  const { created } = await create('byPlan');
  expect(created).toEqual({
    name: 'byPlan',
    displayName: 'byPlan',
    title: null,
    description: 'by plan',
    editable: true,
    deprecated: false,
    parameters: [{ name: 'plan', type: 'string', description: '', required: true }],
  });
  expect(await emitted()).toEqual([{ type: 'strategy-created', data: created, preData: null }]);
});

it('refuses a strategy type whose name exists', async () => {
  const { body } = await create('taken');
  await expect(features.call(CreateStrategyType, { body })).rejects.toMatchObject({ kind: 'NameExistsError' });
});

it('updates a strategy type, and emits it unless nothing changes', async () => {
  const { created, params } = await create('updated');
  await features.clearOutbox();
  for (let nth = 0; nth < 2; nth++)
    await features.call(UpdateStrategyType, { params, body: { title: 'By plan', parameters: [] } });
  expect(await features.call(GetStrategyType, { params })).toMatchObject({ title: 'By plan', parameters: [] });
  const data = { ...created, title: 'By plan', displayName: 'By plan', parameters: [] };
  expect(await emitted()).toEqual([{ type: 'strategy-updated', data, preData: null }]);
});

it('deprecates and reactivates a strategy type, and emits each unless nothing changes', async () => {
  const { params } = await create('deprecated');
  await features.clearOutbox();
  for (let nth = 0; nth < 2; nth++) await features.call(DeprecateStrategyType, { params });
  expect(await features.call(GetStrategyType, { params })).toMatchObject({ deprecated: true });
  await features.call(ReactivateStrategyType, { params });
  expect(await features.call(GetStrategyType, { params })).toMatchObject({ deprecated: false });
  expect(await emitted()).toEqual([
    { type: 'strategy-deprecated', data: params, preData: null },
    { type: 'strategy-reactivated', data: params, preData: null },
  ]);
});

it('deletes a strategy type that no feature uses, and names the features that use it otherwise', async () => {
  const { params } = await create('used');
  await features.create('checkout');
  const at = { projectId: 'default', featureName: 'checkout', environment: 'development' };
  await features.call(AddStrategy, { params: at, body: params });
  await expect(features.call(DeleteStrategyType, { params })).rejects.toMatchObject({
    kind: 'ConflictError',
    message: /checkout/,
  });
  await features.database.transaction(({ query }) => query('truncate feature cascade'));
  await features.clearOutbox();
  await features.call(DeleteStrategyType, { params });
  expect(await emitted()).toEqual([{ type: 'strategy-deleted', data: params, preData: null }]);
});

it.each([
  ['reads', GetStrategyType],
  ['updates', UpdateStrategyType],
  ['deletes', DeleteStrategyType],
  ['deprecates', DeprecateStrategyType],
])('%s no strategy type that does not exist', async (_does, operation) => {
  const request = { params: { name: 'absent' }, body: { parameters: [] } };
  await expect(features.call(operation, request as never)).rejects.toMatchObject({
    kind: 'NotFoundError',
    message: 'No strategy found',
  });
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
});

it('refuses a strategy type with two parameters of one name, and names the second', async () => {
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
