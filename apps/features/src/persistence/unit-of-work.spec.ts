import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { call, inProcessBus, serve, type Subscription } from '@bunting/bus';
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
import { type Database, openDatabase } from '@bunting/database';
import { startTelling } from '@bunting/outbox';
import { contextOf, freshFeaturesDatabase, mia } from '../../test/started-features.ts';
import { featuresEndpoints } from '../operations/index.ts';
import { entities } from './entities.ts';
import { steps } from './migrations/index.ts';
import { readersOf } from './readers.ts';
import { unitOfWork } from './unit-of-work.ts';

// The service without its relay, whose statements would be counted as well.
const bus = inProcessBus();
let database: Database;
let served: Subscription;
let drop: () => Promise<void>;
beforeAll(async () => {
  const fresh = await freshFeaturesDatabase();
  drop = () => fresh.drop();
  database = await openDatabase({ url: fresh.url, name: 'spec', steps, entities });
  const telling = startTelling({
    ...{ producer: 'features', database, bus, intervalMs: 60_000, retentionHours: 1 },
    warn: () => undefined,
  });
  await telling.relay.stop();
  served = await serve(bus, featuresEndpoints(unitOfWork(telling), readersOf(database), bus));
});
afterAll(async () => {
  await served.stop();
  await database.close();
  await drop();
});

const at = { projectId: 'default', featureName: 'checkout', environment: 'development' };
let strategyId: string;
beforeEach(async () => {
  const body = { name: at.featureName, tags: [{ type: 'simple', value: 'old' }] };
  await call(bus, CreateFeature, { params: at, body }, contextOf(mia));
  const strategy = await call(bus, AddStrategy, { params: at, body: { name: 'default' } }, contextOf(mia));
  strategyId = strategy.id ?? '';
});
afterEach(() => database.transaction(({ query }) => query('truncate feature, outbox cascade')));

const retitle = (title: string, timeoutMs?: number) =>
  call(
    bus,
    PatchStrategy,
    { params: { ...at, strategyId }, body: [{ op: 'replace', path: '/title', value: title }] },
    contextOf(mia, timeoutMs),
  );

const statementsOf = async (job: () => Promise<unknown>): Promise<number> => {
  const before = database.statements;
  await job();
  return database.statements - before;
};

it('reads a feature with one statement, whatever its size', async () => {
  const get = () => call(bus, GetFeature, { params: at }, contextOf(mia));
  expect(await statementsOf(get)).toBe(1);
  for (let nth = 0; nth < 20; nth++) {
    await call(bus, AddStrategy, { params: at, body: { name: 'default' } }, contextOf(mia));
  }
  expect(await statementsOf(get)).toBe(1);
});

it('patches a strategy with five statements: begin, load, save, tell, commit', async () => {
  expect(await statementsOf(() => retitle('Half of Oslo'))).toBe(5);
  expect(await statementsOf(() => retitle('Half of Oslo'))).toBe(3);
});

it('removes a tag with as many', async () => {
  const params = { featureName: at.featureName, type: 'simple', value: 'old' };
  const remove = () => call(bus, RemoveFeatureTag, { params }, contextOf(mia));
  expect(await statementsOf(remove)).toBe(5);
  expect(await statementsOf(remove)).toBe(3);
});

it('imports hundreds of features with as many statements as a few', async () => {
  const bodyOf = (count: number, prefix: string): ImportFeaturesBody => {
    const names = Array.from({ length: count }, (_, nth) => `${prefix}-${nth}`);
    const data = { features: names.map((name) => ({ name })), featureStrategies: [], tagTypes: [] };
    return { project: 'default', environment: 'development', data };
  };
  const bringIn = (body: ImportFeaturesBody) => call(bus, ImportFeatures, { body }, contextOf(mia));
  const few = await statementsOf(() => bringIn(bodyOf(2, 'few')));
  expect(await statementsOf(() => bringIn(bodyOf(500, 'many')))).toBe(few);
  expect(await statementsOf(() => bringIn(bodyOf(1500, 'more')))).toBe(few + 2);
});

it('leaves nothing behind when what happened cannot be told', async () => {
  const broken =
    "alter table outbox add constraint nothing_is_told check (type not in ('feature', 'segment')) not valid";
  await database.transaction(({ query }) => query(broken));
  try {
    await expect(retitle('lost')).rejects.toMatchObject({ kind: 'InternalError' });
    const params = { featureName: at.featureName, type: 'simple', value: 'old' };
    await expect(call(bus, RemoveFeatureTag, { params }, contextOf(mia))).rejects.toMatchObject({
      kind: 'InternalError',
    });
    const segment = { name: 'lost', constraints: [] };
    await expect(call(bus, CreateSegment, { body: segment }, contextOf(mia))).rejects.toMatchObject({
      kind: 'InternalError',
    });
  } finally {
    await database.transaction(({ query }) => query('alter table outbox drop constraint nothing_is_told'));
  }
  const feature = await call(bus, GetFeature, { params: at }, contextOf(mia));
  expect(feature.environments?.[0]?.strategies).toMatchObject([{ id: strategyId, title: null }]);
  expect(feature.tags).toEqual([{ type: 'simple', value: 'old' }]);
  const segments = await database.read<{ name: string }>({ name: 'names', text: 'select name from segment' });
  expect(segments).toEqual([]);
});

it('does nothing any more once nobody waits for it', async () => {
  await database.transaction(async ({ query }) => {
    await query('select from feature where name = $1 for update', [at.featureName]);
    await expect(retitle('too late', 50)).rejects.toMatchObject({ kind: 'ServiceUnavailable' });
  });
  // It was first in the queue for the feature's row: once this one has had its turn, that one is over.
  expect(await retitle('in time')).toMatchObject({ title: 'in time' });
  const told = await database.read<{ title: string }>({
    name: 'told titles',
    text: "select payload -> 'data' ->> 'title' as title from outbox where type = 'feature-strategy-update'",
  });
  expect(told).toEqual([{ title: 'in time' }]);
});
