import { afterAll, beforeAll, expect, it } from 'vitest';
import { type CallRequest, serve } from '@bunting/bus';
import { randomUUID } from 'node:crypto';
import {
  AddFavoriteFeature,
  AddProjectEnvironment,
  type AnyOperation,
  ApplyChanges,
  ArchiveFeatures,
  type Change,
  CheckChanges,
  CloneEnvironment,
  CloneFeature,
  CreateProject,
  CreateSegment,
  CreateTagType,
  DeleteFeatures,
  DeleteProject,
  DeleteTag,
  DeleteTagType,
  DisableFeatures,
  EnableFeatures,
  SearchFlagCreators,
  GetFeature,
  GetFeatureEnvironment,
  GetPersonalDashboard,
  GetPersonalDashboardProject,
  GetDeprecatedProjectOverview,
  GetProjectDora,
  GetProjectHealth,
  GetProjectInsights,
  GetProjectOverview,
  GetProjectStatus,
  type ImportFeaturesBody,
  ImportFeatures,
  ListArchivedFeatures,
  ListProjects,
  ListStrategies,
  type Permission,
  PreviewChanges,
  RemoveProjectEnvironment,
  ReviveFeatures,
  SetStale,
  SetVariantsOfEnvironments,
  TagFeatures,
  UpdateSegment,
  ValidateArchive,
} from '@bunting/contracts';
import { type FeaturesWithoutLoops, featuresWithoutLoops } from '../../test/features-unit-of-work.ts';
import { eventLog, otherServices, mia, callerWith } from '../../test/started-features.ts';
import { selectArchivedFeatures } from './feature-sql.ts';

let features: FeaturesWithoutLoops;
beforeAll(async () => {
  features = await featuresWithoutLoops();
});
afterAll(() => features.stop());

const allowed: readonly Permission[] = [
  'CREATE_FEATURE',
  'UPDATE_FEATURE',
  'DELETE_FEATURE',
  'CREATE_FEATURE_STRATEGY',
  'UPDATE_FEATURE_ENVIRONMENT',
];
/** A caller who is not an administrator, whose edits are checked one by one. */
const kim = callerWith(...allowed.map((permission) => ({ permission })));

const few = ['few-1', 'few-2'];
const many = Array.from({ length: 400 }, (_, nth) => `many-${nth}`);

const statementsOf = <O extends AnyOperation>(operation: O, request: CallRequest<O>, caller = kim): Promise<number> =>
  features.statementsOf(() => features.call(operation, request, caller));

it('writes hundreds of features with as many statements as two', async () => {
  const data = { features: [...few, ...many].map((name) => ({ name })), featureStrategies: [], tagTypes: [] };
  const body: ImportFeaturesBody = { project: 'default', environment: 'development', data };
  await features.call(ImportFeatures, { body });

  const params = { projectId: 'default', environment: 'development' };
  const steps: ((names: string[]) => Promise<number>)[] = [
    (names) => statementsOf(EnableFeatures, { params, query: {}, body: { features: names } }),
    (names) => statementsOf(DisableFeatures, { params, body: { features: names } }),
    (names) => statementsOf(SetStale, { params, body: { features: names, stale: true } }),
    (names) => statementsOf(ValidateArchive, { params, body: { features: names } }),
    (names) => statementsOf(ArchiveFeatures, { params, body: { features: names } }),
    (names) => statementsOf(ReviveFeatures, { params, body: { features: names } }),
    (names) => statementsOf(ArchiveFeatures, { params, body: { features: names } }),
    (names) => statementsOf(DeleteFeatures, { params, body: { features: names } }),
  ];
  for (const step of steps) expect(await step(many)).toBe(await step(few));
});

it('reads with one statement each, and writes one feature with at most eight', async () => {
  const data = { features: [{ name: 'lamp' }], featureStrategies: [], tagTypes: [] };
  const body: ImportFeaturesBody = { project: 'default', environment: 'development', data };
  await features.call(ImportFeatures, { body });
  const params = { projectId: 'default', featureName: 'lamp', environment: 'development' };
  expect(await statementsOf(GetFeature, { params })).toBe(1);
  expect(await statementsOf(ListStrategies, { params })).toBe(1);
  expect(await statementsOf(GetFeatureEnvironment, { params })).toBe(1);
  expect(await statementsOf(ListArchivedFeatures, {})).toBe(1);
  expect(await statementsOf(AddFavoriteFeature, { params })).toBeLessThanOrEqual(6);
  expect(await statementsOf(CloneFeature, { params, body: { name: 'copy' } })).toBeLessThanOrEqual(8);
});

it('batches up to 32 concurrent reads of features into one statement', async () => {
  const names = Array.from({ length: 32 }, (_, nth) => `at-once-${nth}`);
  const data = { features: names.map((name) => ({ name })), featureStrategies: [], tagTypes: [] };
  const body: ImportFeaturesBody = { project: 'default', environment: 'development', data };
  await features.call(ImportFeatures, { body }, mia);
  const read = (featureName: string) =>
    features.call(GetFeature, { params: { projectId: 'default', featureName } }, kim);
  const statements = await features.statementsOf(async () => {
    const replies = await Promise.all(names.map(read));
    expect(replies.map(({ name }) => name)).toEqual(names);
  });
  expect(statements).toBe(1);
});

it('changes an object that hundreds of features share with as many statements as for two', async () => {
  /** The number of statements of each edit of a project. */
  const counted = async (own: string, size: number): Promise<Record<string, number>> => {
    const names = Array.from({ length: size }, (_, nth) => `${own}-${nth}`);
    const send = <O extends AnyOperation>(operation: O, request: CallRequest<O>) => features.call(operation, request);
    const count = <O extends AnyOperation>(operation: O, request: CallRequest<O>) =>
      statementsOf(operation, request, mia);
    const params = { projectId: own, environment: 'production' };
    const segment = { name: own, constraints: [] };
    await send(CreateProject, { body: { id: own, name: own } });
    await send(CreateTagType, { body: { name: own } });
    const { id } = await send(CreateSegment, { body: segment });
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
      tag: await count(TagFeatures, { params, body: { features: names, tags: { addedTags, removedTags: [] } } }),
      variants: await count(SetVariantsOfEnvironments, { params: path, body: { environments, variants } }),
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
    const strategyIds = new Map(names.map((name) => [name, randomUUID()]));
    const strategyOf = (name: string) => strategyIds.get(name) ?? '';
    const data: ImportFeaturesBody['data'] = {
      features: names.map((name) => ({ name })),
      featureStrategies: names.map((featureName) => ({ featureName, name: 'default', id: strategyOf(featureName) })),
      tagTypes: [],
    };
    const environmentRef = { project: 'default', environment: 'development' };
    await features.call(ImportFeatures, { body: { ...environmentRef, data } });
    const { id: segment } = await features.call(CreateSegment, { body: { name: own, constraints: [] } });
    const changes = names.flatMap((feature): Change[] => [
      { action: 'updateEnabled', feature, payload: { enabled: true } },
      {
        action: 'updateStrategy',
        feature,
        payload: {
          id: strategyOf(feature),
          title: 'Everyone',
          segments: [segment ?? 0],
          constraints: [{ contextName: 'userId', operator: 'IN', values: ['ada'] }],
        },
      },
    ]);
    const requested = changes.map((change, nth) => ({ id: nth + 1, change, snapshot: null }));
    const requests = names.map((_, nth) => ({ ...environmentRef, changes: requested.slice(2 * nth, 2 * nth + 2) }));
    return {
      check: await statementsOf(CheckChanges, { body: { ...environmentRef, changes, earlier: [] } }, mia),
      preview: await statementsOf(PreviewChanges, { body: { ...environmentRef, withStates: true, requests } }, mia),
      apply: await statementsOf(
        ApplyChanges,
        { body: { ...environmentRef, changeRequestId, attempt: 1, changes: requested, refuseOverwrites: false } },
        mia,
      ),
    };
  };
  const few = await counted('apart', 2, 1);
  expect(await counted('together', 200, 2)).toEqual(few);
  expect(few).toMatchObject({ check: 1, preview: 1 });
});

it('lists archived features without reading active ones', async () => {
  await features.database.transaction(async ({ query }) => {
    await query('analyze feature');
    await query('set local enable_seqscan = off');
    for (const project of [null, 'default']) {
      const rows = await query<Record<string, string>>(
        `explain ${selectArchivedFeatures}`
          .replace(/\$3/g, "'{}'")
          .replace(/\$1/g, '1')
          .replace(/\$2/g, project === null ? 'null' : `'${project}'`),
      );
      expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toMatch(/feature_archived/);
    }
  });
});

it('reads pages about a project with one statement each, for any number of features', async () => {
  const around = await serve(features.bus, [...otherServices, eventLog]);
  const params = { projectId: 'default' };
  const pages = [
    GetDeprecatedProjectOverview,
    GetProjectHealth,
    GetProjectOverview,
    GetProjectInsights,
    GetProjectDora,
    GetProjectStatus,
    ListProjects,
    GetPersonalDashboard,
    GetPersonalDashboardProject,
    SearchFlagCreators,
  ];
  for (const page of pages) expect([page.subject, await statementsOf(page, { params })]).toEqual([page.subject, 1]);
  await around.stop();
});

it('lists projects without activity while the audit service does not reply', async () => {
  const around = await serve(features.bus, otherServices);
  const params = { projectId: 'default' };
  for (const page of [GetDeprecatedProjectOverview, GetProjectHealth, GetProjectOverview]) {
    const project = await features.call(page, { params });
    expect(project).toMatchObject({ name: 'Default', members: 3 });
    expect(project).not.toHaveProperty('stats');
  }
  const { projects } = await features.call(ListProjects, {});
  expect(projects[0]).toMatchObject({ id: 'default', lastUpdatedAt: null });
  await expect(features.call(GetProjectInsights, { params })).rejects.toMatchObject({ kind: 'ServiceUnavailable' });
  await around.stop();
});

it('clones an environment with as many statements for hundreds of features as for two', async () => {
  const counted = async (own: string, size: number): Promise<number> => {
    const names = Array.from({ length: size }, (_, nth) => `${own}-${nth}`);
    await features.call(CreateProject, { body: { id: own, name: own } });
    const data: ImportFeaturesBody['data'] = {
      features: names.map((name) => ({ name })),
      featureStrategies: names.map((featureName) => ({ featureName, name: 'default' })),
      featureEnvironments: names.map((featureName) => ({ featureName, environment: 'development', enabled: true })),
      tagTypes: [],
    };
    await features.call(ImportFeatures, { body: { project: own, environment: 'development', data } });
    const body = { name: `lab-of-${own}`, projects: [own], clonePermissions: false };
    return statementsOf(CloneEnvironment, { params: { name: 'development' }, body }, mia);
  };
  const around = await serve(features.bus, otherServices);
  expect(await counted('crowd', 300)).toBe(await counted('pair', 2));
  await around.stop();
});
