import {
  AddDependency,
  AddStrategy,
  AddFeatureTag,
  ArchiveFeature,
  ArchiveFeatures,
  type Caller,
  CheckChanges,
  CloneEnvironment,
  CloneFeature,
  CreateProject,
  CreateFeature,
  CreateContextField,
  CreateSegment,
  CreateStrategyType,
  CreateTag,
  DeleteFeature,
  DeleteFeatures,
  DeleteContextField,
  DeleteSegment,
  DeleteStrategyType,
  DeleteTag,
  type ExportedFeatures,
  ExportFeatures,
  GetApplication,
  GetFeature,
  GetFeatureUsage,
  GetSegment,
  GetTag,
  ListApplications,
  ListArchivedFeatures,
  ListContextFields,
  ListEnvironments,
  ListFeatureTags,
  ListProjects,
  ListSegments,
  ListSegmentSummaries,
  ListStrategiesOfSegment,
  ListTags,
  ListTagsOfType,
  Refusal,
  RegisterApplication,
  RemoveFeatureTag,
  ReviveFeatures,
  SetStale,
  TagFeatures,
  UpdateSegment,
  ValidateImport,
  isRead,
  operationName,
  httpOperations,
  serviceOf,
} from '@bunting/contracts';
import { beforeAll, describe, expect, it } from 'vitest';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { useFeatures } from './started-features.ts';

/** A caller with many permissions who does not see the project `vault`. */
const stranger: Caller = {
  id: 9,
  name: 'stranger',
  grants: [
    { permission: 'CREATE_FEATURE', project: 'default' },
    { permission: 'UPDATE_FEATURE', project: 'default' },
    { permission: 'CREATE_FEATURE_STRATEGY', project: 'default' },
    { permission: 'DELETE_FEATURE', project: 'default' },
    { permission: 'CREATE_SEGMENT' },
    { permission: 'UPDATE_SEGMENT' },
    { permission: 'DELETE_SEGMENT' },
    { permission: 'DELETE_CONTEXT_FIELD' },
    { permission: 'DELETE_STRATEGY' },
    { permission: 'UPDATE_FEATURE_DEPENDENCY', project: 'default' },
  ],
  hiddenProjects: ['vault'],
};

let segmentId: number;
const everywhere = { name: 'everywhere', constraints: [] };

const features = useFeatures();
beforeAll(async () => {
  await features.call(CreateProject, { body: { id: 'vault', name: 'Vault', mode: 'private' } });
  await features.call(CreateFeature, { params: { projectId: 'vault' }, body: { name: 'hush' } });
  await features.call(CreateFeature, { params: { projectId: 'default' }, body: { name: 'plain' } });
  const body = { name: 'in the vault', project: 'vault', constraints: [] };
  segmentId = (await features.call(CreateSegment, { body })).id;
});

/** The replies to the stranger about an object that exists and one that does not, in one spelling. */
const repliesFor = async (
  attempt: (name: string) => Promise<unknown>,
  there: string,
  absent: string,
): Promise<string[]> =>
  Promise.all(
    [there, absent].map(async (name) => {
      const refused = await attempt(name).then(
        () => undefined,
        (error: unknown) => error,
      );
      if (!(refused instanceof Refusal)) throw new Error('It was not refused.', { cause: refused });
      const { kind, message } = refused;
      return `${kind} ${message.replaceAll(name, 'it')}`;
    }),
  );

describe('hidden projects', () => {
  it('replies for features of a hidden project as for unknown ones', async () => {
    const tag = { type: 'simple', value: 'red' };
    const attempts: ((name: string) => Promise<unknown>)[] = [
      (featureName) => features.call(ListFeatureTags, { params: { featureName } }, stranger),
      (featureName) => features.call(AddFeatureTag, { params: { featureName }, body: tag }, stranger),
      (featureName) => features.call(RemoveFeatureTag, { params: { featureName, ...tag } }, stranger),
      (featureName) => features.call(DeleteFeature, { params: { featureName } }, stranger),
      (featureName) => features.call(GetFeatureUsage, { params: { featureName } }, stranger),
    ];
    for (const attempt of attempts) {
      const [there, absent] = await repliesFor(attempt, 'hush', 'nosuch');
      expect(there).toMatch(/^NotFoundError/);
      expect(there).toBe(absent);
    }
    const inDefault = (featureName: string) => ({ params: { projectId: 'default', featureName } });
    const attemptsInDefault: ((name: string) => Promise<unknown>)[] = [
      (name) => features.call(GetFeature, inDefault(name), stranger),
      (name) => features.call(ArchiveFeature, inDefault(name), stranger),
      (name) => features.call(CloneFeature, { ...inDefault(name), body: { name: 'copy' } }, stranger),
    ];
    for (const attempt of attemptsInDefault) {
      const [there, absent] = await repliesFor(attempt, 'hush', 'nosuch');
      expect(there).toMatch(/^NotFoundError/);
      expect(there).toBe(absent);
    }
  });

  it('replies to bulk writes of features of a hidden project as of unknown ones', async () => {
    const params = { projectId: 'default' };
    const tagging = (name: string) => {
      const tags = { addedTags: [{ type: 'simple', value: 'red' }], removedTags: [] };
      return features.call(TagFeatures, { params, body: { features: [name], tags } }, stranger);
    };
    const [there, absent] = await repliesFor(tagging, 'hush', 'nosuch');
    expect(there).toMatch(/^NotFoundError/);
    expect(there).toBe(absent);

    const body = { features: ['hush', 'nosuch'] };
    await features.clearOutbox();
    await features.call(SetStale, { params, body: { ...body, stale: true } }, stranger);
    await features.call(ArchiveFeatures, { params, body }, stranger);
    await features.call(ReviveFeatures, { params, body }, stranger);
    await features.call(DeleteFeatures, { params, body }, stranger);
    expect(await features.emittedEvents()).toEqual([]);
  });

  it('replies for segments of a hidden project as for unknown ones', async () => {
    const attempts: ((id: string) => Promise<unknown>)[] = [
      (id) => features.call(GetSegment, { params: { id: Number(id) } }, stranger),
      (id) => features.call(ListStrategiesOfSegment, { params: { id: Number(id) } }, stranger),
      (id) => features.call(UpdateSegment, { params: { id: Number(id) }, body: everywhere }, stranger),
      (id) => features.call(DeleteSegment, { params: { id: Number(id) } }, stranger),
    ];
    for (const attempt of attempts) {
      const [there, absent] = await repliesFor(attempt, String(segmentId), '987654');
      expect(there).toMatch(/^NotFoundError/);
      expect(there).toBe(absent);
    }
    const using = (id: string) =>
      features.call(
        AddStrategy,
        {
          params: { projectId: 'default', featureName: 'plain', environment: 'development' },
          body: { name: 'default', segments: [Number(id)] },
        },
        stranger,
      );
    const proposing = (id: string) =>
      features.call(
        CheckChanges,
        {
          body: {
            project: 'default',
            environment: 'development',
            earlier: [],
            changes: [
              {
                feature: 'plain',
                action: 'addStrategy',
                payload: { name: 'default', parameters: {}, constraints: [], segments: [Number(id)] },
              },
            ],
          },
        },
        stranger,
      );
    for (const attempt of [using, proposing]) {
      const [there, absent] = await repliesFor(attempt, String(segmentId), '987654');
      expect(there).toBe(absent);
    }
    const into = (project: string) => features.call(CreateSegment, { body: { ...everywhere, project } }, stranger);
    const [there, absent] = await repliesFor(into, 'vault', 'nosuch');
    expect(there).toMatch(/^ValidationError/);
    expect(there).toBe(absent);
    const forbiddenInto = (project: string) =>
      features.call(CreateSegment, { body: { ...everywhere, project } }, { ...stranger, grants: [] });
    const [hidden, unknown] = await repliesFor(forbiddenInto, 'vault', 'nosuch');
    expect(hidden).toMatch(/^NoAccessError/);
    expect(hidden).toBe(unknown);
  });

  it('an import does not reveal hidden projects by names or dependencies', async () => {
    const errorsOf = async (about: Partial<ExportedFeatures>): Promise<string[]> => {
      const data = { features: [{ name: 'new' }], featureStrategies: [], tagTypes: [], ...about };
      const body = { project: 'default', environment: 'development', data };
      return (await features.call(ValidateImport, { body }, stranger)).errors.map(({ message }) => message);
    };
    expect(await errorsOf({ features: [{ name: 'hush' }] })).toEqual([
      expect.stringMatching(/^The feature "hush" exists already: see/),
    ]);
    const dependingOn = (feature: string) =>
      errorsOf({ dependencies: [{ feature: 'new', dependencies: [{ feature }] }] });
    const [there, absent] = [await dependingOn('hush'), await dependingOn('nosuch')];
    expect(there).toHaveLength(1);
    expect(there[0]?.replace('hush', 'nosuch')).toBe(absent[0]);
  });

  it('refuses a dependency on a feature of a hidden project as on an unknown one', async () => {
    const params = { projectId: 'default', featureName: 'plain' };
    const depending = (feature: string) => features.call(AddDependency, { params, body: { feature } }, stranger);
    const [there, absent] = await repliesFor(depending, 'hush', 'nosuch');
    expect(there).toBe(absent);
  });

  it('only counts the features of hidden projects among the uses of an object', async () => {
    const { id } = await features.call(CreateSegment, { body: { ...everywhere, name: 'shared' } });
    await features.call(CreateContextField, { body: { name: 'mood' } });
    await features.call(CreateStrategyType, { body: { name: 'moody', parameters: [] } });
    const body = {
      name: 'moody',
      segments: [id],
      constraints: [{ contextName: 'mood', operator: 'IN' as const, values: ['good'] }],
    };
    const params = { projectId: 'vault', featureName: 'hush', environment: 'development' };
    await features.call(AddStrategy, { params, body });
    const attempts = [
      () => features.call(DeleteSegment, { params: { id } }, stranger),
      () => features.call(UpdateSegment, { params: { id }, body: { ...everywhere, project: 'default' } }, stranger),
      () => features.call(DeleteContextField, { params: { name: 'mood' } }, stranger),
      () => features.call(DeleteStrategyType, { params: { name: 'moody' } }, stranger),
    ];
    for (const attempt of attempts) {
      const message = await attempt().then(String, String);
      expect(message).toContain('1 other');
      expect(message).not.toMatch(/vault|hush/);
    }
  });

  it('includes features of hidden projects in a write that changes every feature', async () => {
    const featureName = 'hush';
    const administrator: Caller = {
      ...stranger,
      grants: [{ permission: 'UPDATE_FEATURE' }, { permission: 'ADMIN' }],
    };
    const tag = { type: 'simple', value: 'obsolete' };
    await features.call(AddFeatureTag, { params: { featureName }, body: tag });
    await features.call(DeleteTag, { params: tag }, administrator);
    expect((await features.call(ListFeatureTags, { params: { featureName } })).tags).toEqual([]);

    const params = { projectId: 'vault', featureName, environment: 'development' };
    await features.call(AddStrategy, { params, body: { name: 'default', title: 'copied' } });
    const body = { name: 'preview', type: 'test', clonePermissions: false };
    await features.call(CloneEnvironment, { params: { name: 'development' }, body }, administrator);
    const { environments = [] } = await features.call(GetFeature, { params });
    const copied = environments.find(({ name }) => name === 'preview');
    expect(copied?.strategies?.map(({ title }) => title)).toContain('copied');
  });

  it('hides tags and applications that only hidden projects use', async () => {
    const tag = (name: string, value: string) =>
      features.call(AddFeatureTag, { params: { featureName: name }, body: { type: 'simple', value } });
    await tag('hush', 'hers-alone');
    await tag('hush', 'shared');
    await tag('plain', 'shared');
    await features.call(CreateTag, { body: { type: 'simple', value: 'unused' } });
    const report = { strategies: [], started: new Date().toISOString(), interval: 10 };
    const registering = (appName: string, ...projects: readonly string[]) => {
      const grants = (projects.length === 0 ? [undefined] : projects).map((project) => ({
        permission: 'CLIENT' as const,
        environment: 'development',
        ...(project === undefined ? {} : { project }),
      }));
      return features.call(RegisterApplication, { body: { appName, ...report } }, { id: -1, name: 'sdk', grants });
    };
    await registering('safe', 'vault');
    await registering('shop', 'vault', 'default');
    await registering('all');

    const seen = async (caller?: Caller) => {
      const lists = [
        await features.call(ListTags, {}, caller),
        await features.call(ListTagsOfType, { params: { type: 'simple' } }, caller),
      ];
      const { applications, total } = await features.call(ListApplications, {}, caller);
      return {
        tags: lists.map(({ tags }) => tags.map(({ value }) => value)),
        apps: applications.map((a) => a.appName),
        total,
      };
    };
    const all = ['hers-alone', 'shared', 'unused'];
    expect(await seen()).toEqual({ tags: [all, all], apps: ['all', 'safe', 'shop'], total: 3 });
    const others = ['shared', 'unused'];
    expect(await seen(stranger)).toEqual({ tags: [others, others], apps: ['all', 'shop'], total: 2 });

    const attempts: [(name: string) => Promise<unknown>, string][] = [
      [(value) => features.call(GetTag, { params: { type: 'simple', value } }, stranger), 'hers-alone'],
      [(appName) => features.call(GetApplication, { params: { appName } }, stranger), 'safe'],
    ];
    for (const [attempt, name] of attempts) {
      const [there, absent] = await repliesFor(attempt, name, 'nosuch');
      expect(there).toMatch(/^NotFoundError/);
      expect(there).toBe(absent);
    }
  });

  it('leaves hidden projects out of lists and counts', async () => {
    const ids = async (caller?: Caller) => (await features.call(ListProjects, {}, caller)).projects.map(({ id }) => id);
    expect(await ids()).toContain('vault');
    expect(await ids(stranger)).not.toContain('vault');
    const lists = [
      await features.call(ListSegments, {}, stranger),
      await features.call(ListSegmentSummaries, {}, stranger),
      await features.call(ListArchivedFeatures, {}, stranger),
      await features.call(ListContextFields, {}, stranger),
      await features.call(ExportFeatures, { body: { environment: 'development', project: 'vault' } }, stranger),
      await features.call(ExportFeatures, { body: { environment: 'development', features: ['hush'] } }, stranger),
    ];
    expect(JSON.stringify(lists)).not.toMatch(/vault|hush/);
    const projectsIn = async (caller?: Caller) =>
      (await features.call(ListEnvironments, {}, caller)).environments.map(({ projectCount }) => projectCount);
    expect(await projectsIn(stranger)).toEqual((await projectsIn()).map((count) => (count ?? 0) - 1));
  });
});

/** The reads whose replies have nothing of projects, or only of one in which the caller needs a permission. */
const readsWithoutProjects = [
  'get-strategy-type',
  'get-tag-type',
  'list-feature-types',
  'list-strategy-types',
  'list-tag-types',
  'validate-constraint',
  'validate-context-field-name',
  'validate-environment-name',
  'validate-import',
  'validate-project-id',
  'validate-segment-name',
  'validate-tag-type',
];

it('every read without a project in its URL asks which projects are hidden, or has nothing of projects', () => {
  const src = path.join(import.meta.dirname, '../src');
  const sources = globSync('*/endpoints.ts', { cwd: src }).map((file) => readFileSync(path.join(src, file), 'utf8'));
  // Prettier indents each endpoint of a noun by four spaces.
  const endpoints = sources.flatMap((source) =>
    source.split(/^ {4}(?:implement|reads|writes|editFeature)\(\s*/m).slice(1),
  );
  const sourceOf = (name: string): string => {
    const operation = name.replaceAll(/(?:^|-)(.)/g, (_, letter: string) => letter.toUpperCase());
    return endpoints.filter((endpoint) => endpoint.startsWith(`${operation},`)).join('');
  };
  // The gateway refuses a hidden project in a URL; services call the other operations on their own behalf.
  const names = httpOperations
    .filter((operation) => serviceOf(operation) === 'features' && operation.http?.url.includes(':projectId') === false)
    // An export only reads features, and records that it did.
    .filter((operation) => isRead(operation) || operation === ExportFeatures)
    .map(operationName);
  const asking = /\b(?:hiddenProjectsOf|maySee|readPlaygroundContent)\(/;
  expect(names.filter((name) => !asking.test(sourceOf(name))).toSorted()).toEqual(readsWithoutProjects);
});
