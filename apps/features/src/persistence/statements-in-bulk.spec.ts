import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Ask, call, inProcessBus, serve, type Subscription } from '@bunting/bus';
import {
  AddFavoriteFeature,
  type AnyOperation,
  ArchiveFeatures,
  CloneFeature,
  DeleteFeatures,
  DisableEnvironmentsInBulk,
  EnableEnvironmentsInBulk,
  GetFeatureEnvironment,
  type ImportFeaturesBody,
  ImportFeatures,
  ListArchivedFeatures,
  ListStrategies,
  type Permission,
  ReviveFeatures,
  SetStale,
  ValidateArchive,
} from '@bunting/contracts';
import { type Database, openDatabase } from '@bunting/database';
import { outboxTables, startTelling } from '@bunting/outbox';
import { contextOf, freshFeaturesDatabase, mia, someoneWho } from '../../test/started-features.ts';
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
  database = await openDatabase({ url: fresh.url, name: 'spec', steps: [...steps, outboxTables], entities });
  const telling = startTelling({
    ...{ producer: 'features', database, bus, intervalMs: 60_000, retentionHours: 1 },
    warn: () => undefined,
  });
  await telling.relay.stop();
  served = await serve(bus, featuresEndpoints(unitOfWork(telling), readersOf(database)));
});
afterAll(async () => {
  await served.stop();
  await database.close();
  await drop();
});

const allowed: readonly Permission[] = [
  ...(['CREATE_FEATURE', 'UPDATE_FEATURE', 'DELETE_FEATURE', 'CREATE_FEATURE_STRATEGY'] as const),
  'UPDATE_FEATURE_ENVIRONMENT',
];
/** Somebody whose edits are looked at one by one: no administrator. */
const kim = someoneWho(...allowed.map((permission) => ({ permission })));

const few = ['few-1', 'few-2'];
const many = Array.from({ length: 400 }, (_, nth) => `many-${nth}`);

const statementsOf = async <O extends AnyOperation>(operation: O, ask: Ask<O>): Promise<number> => {
  const before = database.statements;
  await call(bus, operation, ask, contextOf(kim));
  return database.statements - before;
};

it('writes hundreds of features with as many statements as two', async () => {
  const data = { features: [...few, ...many].map((name) => ({ name })), featureStrategies: [], tagTypes: [] };
  const body: ImportFeaturesBody = { project: 'default', environment: 'development', data };
  await call(bus, ImportFeatures, { body }, contextOf(mia));

  const params = { projectId: 'default', environment: 'development' };
  const steps: ((features: string[]) => Promise<number>)[] = [
    (features) => statementsOf(EnableEnvironmentsInBulk, { params, query: {}, body: { features } }),
    (features) => statementsOf(DisableEnvironmentsInBulk, { params, body: { features } }),
    (features) => statementsOf(SetStale, { params, body: { features, stale: true } }),
    (features) => statementsOf(ValidateArchive, { params, body: { features } }),
    (features) => statementsOf(ArchiveFeatures, { params, body: { features } }),
    (features) => statementsOf(ReviveFeatures, { params, body: { features } }),
    (features) => statementsOf(ArchiveFeatures, { params, body: { features } }),
    (features) => statementsOf(DeleteFeatures, { params, body: { features } }),
  ];
  for (const step of steps) expect(await step(many)).toBe(await step(few));
});

it('reads with one statement each, and writes one feature with a handful', async () => {
  const data = { features: [{ name: 'lamp' }], featureStrategies: [], tagTypes: [] };
  const body: ImportFeaturesBody = { project: 'default', environment: 'development', data };
  await call(bus, ImportFeatures, { body }, contextOf(mia));
  const params = { projectId: 'default', featureName: 'lamp', environment: 'development' };
  expect(await statementsOf(ListStrategies, { params })).toBe(1);
  expect(await statementsOf(GetFeatureEnvironment, { params })).toBe(1);
  expect(await statementsOf(ListArchivedFeatures, {})).toBe(1);
  expect(await statementsOf(AddFavoriteFeature, { params })).toBeLessThanOrEqual(6);
  expect(await statementsOf(CloneFeature, { params, body: { name: 'copy' } })).toBeLessThanOrEqual(8);
});
