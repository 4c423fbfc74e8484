import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Ask, call, inProcessBus, serve, type Subscription } from '@bunting/bus';
import {
  AddFavoriteFeature,
  AddProjectEnvironment,
  type AnyOperation,
  ApplyChanges,
  ArchiveFeatures,
  type Change,
  CheckChanges,
  CloneFeature,
  CreateProject,
  CreateSegment,
  CreateTagType,
  DeleteFeatures,
  DeleteProject,
  DeleteTag,
  DeleteTagType,
  DisableEnvironmentsInBulk,
  EnableEnvironmentsInBulk,
  GetFeatureEnvironment,
  type ImportFeaturesBody,
  ImportFeatures,
  ListArchivedFeatures,
  ListStrategies,
  type Permission,
  PreviewChanges,
  RemoveProjectEnvironment,
  ReviveFeatures,
  SetStale,
  SetVariantsInBatch,
  TagFeaturesInBulk,
  UpdateSegment,
  ValidateArchive,
} from '@bunting/contracts';
import { type Database, openDatabase } from '@bunting/database';
import { startTelling } from '@bunting/outbox';
import { contextOf, freshFeaturesDatabase, mia, someoneWho } from '../../test/started-features.ts';
import { featuresEndpoints } from '../operations/index.ts';
import { entities } from './entities.ts';
import { archivedFeatures } from './feature-json.ts';
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

const allowed: readonly Permission[] = [
  ...(['CREATE_FEATURE', 'UPDATE_FEATURE', 'DELETE_FEATURE', 'CREATE_FEATURE_STRATEGY'] as const),
  'UPDATE_FEATURE_ENVIRONMENT',
];
/** Somebody whose edits are looked at one by one: no administrator. */
const kim = someoneWho(...allowed.map((permission) => ({ permission })));

const few = ['few-1', 'few-2'];
const many = Array.from({ length: 400 }, (_, nth) => `many-${nth}`);

const statementsOf = async <O extends AnyOperation>(operation: O, ask: Ask<O>, caller = kim): Promise<number> => {
  const before = database.statements;
  await call(bus, operation, ask, contextOf(caller));
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

it('changes what many features have in common with as many statements as for two', async () => {
  /** How many statements each change of one project takes. */
  const counted = async (own: string, size: number): Promise<Record<string, number>> => {
    const names = Array.from({ length: size }, (_, nth) => `${own}-${nth}`);
    const ask = <O extends AnyOperation>(operation: O, about: Ask<O>) => call(bus, operation, about, contextOf(mia));
    const count = <O extends AnyOperation>(operation: O, about: Ask<O>) => statementsOf(operation, about, mia);
    const params = { projectId: own, environment: 'production' };
    const segment = { name: own, constraints: [] };
    await ask(CreateProject, { body: { id: own, name: own } });
    await ask(CreateTagType, { body: { name: own } });
    const { id } = await ask(CreateSegment, { body: segment });
    const data: ImportFeaturesBody['data'] = {
      features: names.map((name) => ({ name })),
      featureStrategies: names.map((featureName) => ({ featureName, name: 'default', segments: [1] })),
      featureTags: names.map((featureName) => ({ featureName, tagType: 'simple', tagValue: own })),
      segments: [{ id: 1, name: own }],
      tagTypes: [{ name: 'simple' }],
    };
    const addedTags = [{ type: own, value: 'red' }];
    const variants = [{ name: 'one', weight: 1000, weightType: 'variable' as const, stickiness: 'default' }];
    const path = { projectId: own, featureName: names[0] ?? '' };
    const environments = size > 2 ? ['development', 'production'] : ['development'];
    return {
      import: await count(ImportFeatures, { body: { project: own, environment: 'production', data } }),
      tag: await count(TagFeaturesInBulk, { params, body: { features: names, tags: { addedTags, removedTags: [] } } }),
      variants: await count(SetVariantsInBatch, { params: path, body: { environments, variants } }),
      renameSegment: await count(UpdateSegment, { params: { id: id ?? 0 }, body: { ...segment, name: `${own}-2` } }),
      deleteTag: await count(DeleteTag, { params: { type: 'simple', value: own } }),
      deleteTagType: await count(DeleteTagType, { params: { name: own } }),
      removeEnvironment: await count(RemoveProjectEnvironment, { params }),
      addEnvironment: await count(AddProjectEnvironment, { params, body: { environment: 'production' } }),
      archive: await count(ArchiveFeatures, { params, body: { features: names } }),
      deleteProject: await count(DeleteProject, { params }),
    };
  };
  expect(await counted('large', 400)).toEqual(await counted('small', 2));
});

it('checks, previews and applies hundreds of changes with as many statements as two', async () => {
  const counted = async (own: string, size: number, changeRequestId: number) => {
    const names = Array.from({ length: size }, (_, nth) => `${own}-${nth}`);
    const strategyOf = (name: string) => `of-${name}`;
    const data: ImportFeaturesBody['data'] = {
      features: names.map((name) => ({ name })),
      featureStrategies: names.map((featureName) => ({ featureName, name: 'default', id: strategyOf(featureName) })),
      tagTypes: [],
    };
    const place = { project: 'default', environment: 'development' };
    await call(bus, ImportFeatures, { body: { ...place, data } }, contextOf(mia));
    const { id: segment } = await call(bus, CreateSegment, { body: { name: own, constraints: [] } }, contextOf(mia));
    const changes = names.flatMap((feature): Change[] => [
      { action: 'updateEnabled', feature, payload: { enabled: true } },
      {
        action: 'updateStrategy',
        feature,
        payload: {
          ...{ id: strategyOf(feature), title: 'Everyone', segments: [segment ?? 0] },
          constraints: [{ contextName: 'userId', operator: 'IN', values: ['ada'] }],
        },
      },
    ]);
    const requested = changes.map((change, nth) => ({ id: nth + 1, change, snapshot: null }));
    const requests = names.map((_, nth) => ({ ...place, changes: requested.slice(2 * nth, 2 * nth + 2) }));
    return {
      check: await statementsOf(CheckChanges, { body: { ...place, changes, earlier: [] } }, mia),
      preview: await statementsOf(PreviewChanges, { body: { ...place, withStates: true, requests } }, mia),
      apply: await statementsOf(
        ApplyChanges,
        { body: { ...place, changeRequestId, attempt: 1, changes: requested, refuseOverwrites: false } },
        mia,
      ),
    };
  };
  const few = await counted('apart', 2, 1);
  expect(await counted('together', 200, 2)).toEqual(few);
  expect(few).toMatchObject({ check: 1, preview: 1 });
});

it('finds the archive without a look at what is active', async () => {
  await database.transaction(async ({ query }) => {
    await query('analyze feature');
    await query('set local enable_seqscan = off');
    for (const project of [null, 'default']) {
      const rows = await query<Record<string, string>>(
        `explain ${archivedFeatures}`
          .replace(/\$3/g, "'{}'")
          .replace(/\$1/g, '1')
          .replace(/\$2/g, project === null ? 'null' : `'${project}'`),
      );
      expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toMatch(/feature_archived/);
    }
  });
});
