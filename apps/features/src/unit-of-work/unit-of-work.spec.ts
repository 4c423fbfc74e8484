import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import {
  AddStrategy,
  CreateFeature,
  CreateSegment,
  GetFeature,
  type ImportFeaturesBody,
  ImportFeatures,
  PatchStrategy,
  RemoveFeatureTag,
} from '@bunting/contracts';
import { type FeaturesWithoutLoops, featuresWithoutLoops } from '../../test/features-unit-of-work.ts';
import { mia } from '../../test/started-features.ts';

let features: FeaturesWithoutLoops;
beforeAll(async () => {
  features = await featuresWithoutLoops();
});
afterAll(() => features.stop());

const at = { projectId: 'default', featureName: 'checkout', environment: 'development' };
let strategyId: string;
beforeEach(async () => {
  const body = { name: at.featureName, tags: [{ type: 'simple', value: 'old' }] };
  await features.call(CreateFeature, { params: at, body });
  const strategy = await features.call(AddStrategy, { params: at, body: { name: 'default' } });
  strategyId = strategy.id ?? '';
});
afterEach(() => features.database.transaction(({ query }) => query('truncate feature, outbox cascade')));

const retitle = (title: string, timeoutMs = 10_000) =>
  features.call(
    PatchStrategy,
    { params: { ...at, strategyId }, body: [{ op: 'replace', path: '/title', value: title }] },
    mia,
    { timeoutMs },
  );

it('reads a feature with one statement, whatever its size', async () => {
  const get = () => features.call(GetFeature, { params: at });
  expect(await features.statementsOf(get)).toBe(1);
  for (let nth = 0; nth < 20; nth++) {
    await features.call(AddStrategy, { params: at, body: { name: 'default' } });
  }
  expect(await features.statementsOf(get)).toBe(1);
});

it('patches a strategy with four statements, and with three if nothing changes', async () => {
  expect(await features.statementsOf(() => retitle('Half of Oslo'))).toBe(4);
  expect(await features.statementsOf(() => retitle('Half of Oslo'))).toBe(3);
});

it('removes a tag with four statements, and with three if nothing changes', async () => {
  const params = { featureName: at.featureName, type: 'simple', value: 'old' };
  const remove = () => features.call(RemoveFeatureTag, { params });
  expect(await features.statementsOf(remove)).toBe(4);
  expect(await features.statementsOf(remove)).toBe(3);
});

it('patches a strategy in two round trips, also when nothing changes', async () => {
  expect(await features.roundTripsOf(() => retitle('Half of Oslo'))).toBe(2);
  expect(await features.roundTripsOf(() => retitle('Half of Oslo'))).toBe(2);
});

it('removes a tag in two round trips', async () => {
  const params = { featureName: at.featureName, type: 'simple', value: 'old' };
  expect(await features.roundTripsOf(() => features.call(RemoveFeatureTag, { params }))).toBe(2);
});

it('imports hundreds of features with as many statements as a few', async () => {
  const bodyOf = (count: number, prefix: string): ImportFeaturesBody => {
    const names = Array.from({ length: count }, (_, nth) => `${prefix}-${nth}`);
    const data = { features: names.map((name) => ({ name })), featureStrategies: [], tagTypes: [] };
    return { project: 'default', environment: 'development', data };
  };
  const bringIn = (body: ImportFeaturesBody) => features.call(ImportFeatures, { body });
  const few = await features.statementsOf(() => bringIn(bodyOf(2, 'few')));
  expect(await features.statementsOf(() => bringIn(bodyOf(500, 'many')))).toBe(few);
  expect(await features.statementsOf(() => bringIn(bodyOf(1500, 'more')))).toBe(few + 2);
});

it('stores nothing if an event cannot be emitted', async () => {
  const broken =
    "alter table outbox add constraint nothing_is_told check (type not in ('feature', 'segment')) not valid";
  await features.database.transaction(({ query }) => query(broken));
  try {
    await expect(retitle('lost')).rejects.toMatchObject({ kind: 'InternalError' });
    const params = { featureName: at.featureName, type: 'simple', value: 'old' };
    await expect(features.call(RemoveFeatureTag, { params })).rejects.toMatchObject({
      kind: 'InternalError',
    });
    const segment = { name: 'lost', constraints: [] };
    await expect(features.call(CreateSegment, { body: segment })).rejects.toMatchObject({
      kind: 'InternalError',
    });
  } finally {
    await features.database.transaction(({ query }) => query('alter table outbox drop constraint nothing_is_told'));
  }
  const feature = await features.call(GetFeature, { params: at });
  expect(feature.environments?.[0]?.strategies).toMatchObject([{ id: strategyId, title: null }]);
  expect(feature.tags).toEqual([{ type: 'simple', value: 'old' }]);
  const segments = await features.database.read<{ name: string }>({ name: 'names', text: 'select name from segment' });
  expect(segments).toEqual([]);
});

it('stores nothing after the deadline of the caller', async () => {
  await features.database.transaction(async ({ query }) => {
    await query('select from feature where name = $1 for update', [at.featureName]);
    await expect(retitle('too late', 50)).rejects.toMatchObject({ kind: 'ServiceUnavailable' });
  });
  // The first call was first in the queue for the row lock: once the second is done, the first has ended.
  expect(await retitle('in time')).toMatchObject({ title: 'in time' });
  const emitted = await features.database.read<{ title: string }>({
    name: 'emitted titles',
    text: "select payload -> 'data' ->> 'title' as title from outbox where type = 'feature-strategy-update'",
  });
  expect(emitted).toEqual([{ title: 'in time' }]);
});
