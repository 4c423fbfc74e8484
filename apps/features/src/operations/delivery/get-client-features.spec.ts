import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  AddDependency,
  AddFavoriteFeature,
  AddFeatureTag,
  AddStrategy,
  ApplyChanges,
  ArchiveFeature,
  type Caller,
  type ClientFeature,
  type ClientFeatures,
  type ClientFeaturesQuery,
  type CreateStrategy,
  CreateEnvironment,
  CreateFeature,
  CreateProject,
  CreateSegment,
  DeleteStrategy,
  DisableFeature,
  EnableFeature,
  GetClientFeature,
  GetClientFeatures,
  ImportFeatures,
  MoveFeature,
  PatchFeature,
  PatchStrategy,
  RemoveDependencies,
  RemoveFeatureTag,
  RemoveProjectEnvironment,
  ReviveFeature,
  SetStale,
  SetStrategyOrder,
  SetStrategySegments,
  SetVariantsInBatch,
  SwitchEnvironmentOff,
  SwitchEnvironmentOn,
  UpdateSegment,
  UpdateStrategy,
} from '@bunting/contracts';
import { randomUUID } from 'node:crypto';
import { mia, callerWith, type StartedFeatures, startFeatures } from '../../../test/started-features.ts';

let features: StartedFeatures;
/** another process on the same database, without wake-up signals */
let replica: StartedFeatures;
beforeAll(async () => {
  features = await startFeatures();
  replica = await startFeatures({ FEATURES_DATABASE_URL: features.url });
}, 30_000);
afterAll(async () => {
  await replica.stop();
  await features.stop();
});

const application = (...projects: readonly string[]): Caller =>
  callerWith(
    ...(projects.length === 0 ? [{}] : projects.map((project) => ({ project }))).map((where) => ({
      permission: 'CLIENT' as const,
      environment: 'development',
      ...where,
    })),
  );

/** The reply to an SDK. Each test has projects of its own, so that none sees features of another. */
const given = (caller: Caller, query: ClientFeaturesQuery = {}, from = features): Promise<ClientFeatures> =>
  from.call(GetClientFeatures, { query }, caller);

const named = (all: ClientFeatures, name: string): ClientFeature | undefined =>
  all.features.find((feature) => feature.name === name);

const aProject = async (): Promise<string> => {
  const id = `p-${randomUUID()}`;
  await features.call(CreateProject, { body: { id, name: id } });
  return id;
};

const aFlag = async (projectId: string): Promise<string> => {
  const name = `f-${randomUUID()}`;
  await features.call(CreateFeature, { params: { projectId }, body: { name } });
  return name;
};

const at = (projectId: string, featureName: string, environment = 'development') => ({
  projectId,
  featureName,
  environment,
});

const addStrategy = async (projectId: string, featureName: string, more: Partial<CreateStrategy> = {}) => {
  const body = { name: 'default', ...more };
  const { id = '' } = await features.call(AddStrategy, { params: at(projectId, featureName), body });
  return id;
};

const turnOn = async (projectId: string, featureName: string): Promise<void> => {
  await features.call(EnableFeature, { params: at(projectId, featureName), query: {} });
};

const aSegment = async (value: string) => {
  const constraints = [{ contextName: 'userId', operator: 'IN' as const, values: [value] }];
  const { id } = await features.call(CreateSegment, { body: { name: `s-${randomUUID()}`, constraints } });
  return id;
};

describe('an SDK', () => {
  it('returns to an SDK the features of its environment, without internal properties', async () => {
    const project = await aProject();
    const flag = await aFlag(project);
    await addStrategy(project, flag, {
      name: 'flexibleRollout',
      title: 'Half of them',
      parameters: { rollout: '50', stickiness: 'default', groupId: flag },
      constraints: [{ contextName: 'userId', operator: 'IN', values: ['7'] }],
      variants: [{ name: 'blue', weight: 1000, weightType: 'variable', stickiness: 'default' }],
    });
    await turnOn(project, flag);
    const all = await given(application(project));
    expect(all).toMatchObject({
      version: 2,
      query: { environment: 'development', project: [project], inlineSegmentConstraints: true },
      meta: { revisionId: expect.any(Number), etag: expect.stringMatching(/^"[0-9a-f]{8}:[0-9a-f]{32}"$/) },
    });
    expect(all.features).toEqual([
      {
        name: flag,
        type: 'release',
        enabled: true,
        project,
        stale: false,
        description: null,
        impressionData: false,
        strategies: [
          {
            name: 'flexibleRollout',
            parameters: { rollout: '50', stickiness: 'default', groupId: flag },
            constraints: [
              { contextName: 'userId', operator: 'IN', values: ['7'], inverted: false, caseInsensitive: false },
            ],
            variants: [{ name: 'blue', weight: 1000, weightType: 'variable', stickiness: 'default' }],
          },
        ],
        variants: [],
      },
    ]);
  });

  it('omits disabled strategies from SDKs, and disables a feature whose strategies are all disabled', async () => {
    const project = await aProject();
    const flag = await aFlag(project);
    await addStrategy(project, flag, { name: 'default', parameters: { kept: 'yes' } });
    const disabled = await addStrategy(project, flag, { name: 'default', disabled: true });
    await turnOn(project, flag);
    const seen = async () => named(await given(application(project)), flag);
    expect(await seen()).toMatchObject({ enabled: true, strategies: [{ parameters: { kept: 'yes' } }] });
    // No operation stores such a feature. If one did, the feature must not be enabled for all users.
    await features.database.transaction(async ({ query }) => {
      await query(
        `update feature set environments = jsonb_set(environments, '{development,strategies,0,disabled}', 'true') where name = $1`,
        [flag],
      );
    });
    await features.call(DeleteStrategy, { params: { ...at(project, flag), strategyId: disabled } });
    await features.database.transaction(async ({ query }) => {
      await query(
        `update feature set environments = jsonb_set(environments, '{development,enabled}', 'true') where name = $1`,
        [flag],
      );
    });
    await features.call(SetStale, { params: { projectId: project }, body: { features: [flag], stale: true } });
    expect(await seen()).toMatchObject({ enabled: false, strategies: [] });
  });

  it('returns a feature as disabled if its project does not have the environment', async () => {
    const project = await aProject();
    const flag = await aFlag(project);
    await turnOn(project, flag);
    await features.call(RemoveProjectEnvironment, { params: { projectId: project, environment: 'development' } });
    expect(named(await given(application(project)), flag)).toMatchObject({ enabled: false, strategies: [] });
  });

  it('returns strategies in their order, and none of other environments', async () => {
    const project = await aProject();
    const flag = await aFlag(project);
    for (const place of ['a', 'b']) await addStrategy(project, flag, { parameters: { place } });
    const { id = '' } = await features.call(AddStrategy, {
      params: at(project, flag, 'production'),
      body: { name: 'default', parameters: { place: 'elsewhere' } },
    });
    expect(id).not.toBe('');
    const places = async () =>
      named(await given(application(project)), flag)?.strategies.map(({ parameters }) => parameters['place']);
    expect(await places()).toEqual(['a', 'b']);
    const ids = (await features.get(flag, mia, project)).environments
      ?.find(({ name }) => name === 'development')
      ?.strategies?.map((strategy) => strategy.id ?? '');
    await features.call(SetStrategyOrder, {
      params: at(project, flag),
      body: [
        { id: ids?.[0] ?? '', sortOrder: 2 },
        { id: ids?.[1] ?? '', sortOrder: 1 },
      ],
    });
    expect(await places()).toEqual(['b', 'a']);
  });

  it('returns dependencies, with variants only if the parent must be enabled', async () => {
    const project = await aProject();
    const [parent, on, off] = [await aFlag(project), await aFlag(project), await aFlag(project)];
    const depend = (featureName: string, body: { feature: string; enabled?: boolean; variants?: string[] }) =>
      features.call(AddDependency, { params: { projectId: project, featureName }, body });
    await depend(on, { feature: parent, variants: ['blue'] });
    await depend(off, { feature: parent, enabled: false });
    const all = await given(application(project));
    expect(named(all, parent)).not.toHaveProperty('dependencies');
    expect(named(all, on)?.dependencies).toEqual([{ feature: parent, enabled: true, variants: ['blue'] }]);
    expect(named(all, off)?.dependencies).toEqual([{ feature: parent, enabled: false }]);
  });

  it.each([undefined, '4.1.9', '3.9', 'nonsense', ''])(
    'inlines the constraints of segments for SDKs with client specification %p',
    async (clientSpec) => {
      const project = await aProject();
      const flag = await aFlag(project);
      const segments = [await aSegment('first'), await aSegment('second')];
      const constraints = [{ contextName: 'appName', operator: 'IN' as const, values: ['own'] }];
      await addStrategy(project, flag, { segments: segments.toReversed(), constraints });
      const all = await given(application(project), clientSpec === undefined ? {} : { clientSpec });
      expect(all.query.inlineSegmentConstraints).toBe(true);
      expect(all).not.toHaveProperty('segments');
      const [strategy] = named(all, flag)?.strategies ?? [];
      expect(strategy).not.toHaveProperty('segments');
      expect(strategy?.constraints.map(({ values }) => values)).toEqual([['own'], ['first'], ['second']]);
    },
  );

  it.each(['4.2.0', '4.10.1', '5.1.9'])(
    'returns the used segments beside the features for SDKs with client specification %p',
    async (clientSpec) => {
      const project = await aProject();
      const flag = await aFlag(project);
      const [one, other, unused] = [await aSegment('one'), await aSegment('other'), await aSegment('unused')];
      await addStrategy(project, flag, { segments: [other, one] });
      await addStrategy(project, flag, { segments: [unused], disabled: true });
      const all = await given(application(project), { clientSpec });
      expect(all.query.inlineSegmentConstraints).toBe(false);
      expect(named(all, flag)?.strategies).toMatchObject([{ segments: [one, other], constraints: [] }]);
      expect(all.segments).toMatchObject([
        { id: one, constraints: [{ values: ['one'] }] },
        { id: other, constraints: [{ values: ['other'] }] },
      ]);
    },
  );

  it('limits an SDK to the projects and environment of its token', async () => {
    const [own, other] = [await aProject(), await aProject()];
    const [mine, theirs] = [await aFlag(own), await aFlag(other)];
    const names = async (caller: Caller, query: ClientFeaturesQuery = {}) =>
      (await given(caller, query)).features
        .map(({ name }) => name)
        .filter((name) => [mine, theirs].includes(name))
        .sort();
    const both = [mine, theirs].sort();
    expect(await names(application(own), { project: [other], environment: 'production' })).toEqual([mine]);
    expect(await names(application(own, other))).toEqual(both);
    expect(await names(application())).toEqual(both);
    expect(await names(application(), { project: [other] })).toEqual([theirs]);
    expect(await names(mia, { environment: 'production' })).toEqual(both);
    expect((await given(application(), { project: ['nowhere'] })).features).toEqual([]);
    expect((await given(application(own), { environment: 'production' })).query.environment).toBe('development');
  });

  it('filters the features of an SDK by prefix and by any of several tags', async () => {
    const project = await aProject();
    const [plain, tagged] = [await aFlag(project), await aFlag(project)];
    await features.call(AddFeatureTag, {
      params: { featureName: tagged },
      body: { type: 'simple', value: `v-${tagged}` },
    });
    const names = async (query: ClientFeaturesQuery) =>
      (await given(application(project), query)).features.map(({ name }) => name);
    expect(await names({ namePrefix: plain })).toEqual([plain]);
    expect(await names({ namePrefix: plain.toUpperCase() })).toEqual([]);
    expect(await names({ tag: ['simple:none', `simple:v-${tagged}`] })).toEqual([tagged]);
    await expect(names({ tag: ['simple'] })).rejects.toMatchObject({
      kind: 'ValidationError',
      message: expect.stringContaining('/query/tag/0'),
    });
  });

  it('refuses an unknown environment, and callers without an application token', async () => {
    const nowhere = callerWith({ permission: 'CLIENT', environment: 'nowhere' });
    await expect(given(nowhere)).rejects.toMatchObject({
      kind: 'ValidationError',
      message: expect.stringContaining('nowhere'),
    });
    await expect(given(callerWith({ permission: 'UPDATE_FEATURE' }))).rejects.toMatchObject({ kind: 'NoAccessError' });
  });

  it('returns one feature to an SDK with the constraints of its segments, and no feature outside of its token', async () => {
    const [project, other] = [await aProject(), await aProject()];
    const flag = await aFlag(project);
    await addStrategy(project, flag, { segments: [await aSegment('one')] });
    const one = (caller: Caller, featureName = flag) =>
      features.call(GetClientFeature, { params: { featureName } }, caller);
    expect(await one(application(project))).toEqual(named(await given(application(project)), flag));
    for (const [caller, name] of [
      [application(other), flag],
      [application(project), 'f-absent'],
    ] as const) {
      await expect(one(caller, name)).rejects.toMatchObject({
        kind: 'NotFoundError',
        message: `Could not find feature flag ${name}`,
      });
    }
  });
});

describe('the tag of what an SDK is given', () => {
  interface Scene {
    readonly project: string;
    readonly flag: string;
    readonly other: string;
    readonly strategy: string;
    readonly segment: number;
  }
  type Write = (scene: Scene) => Promise<unknown>;

  const scene = async (): Promise<Scene> => {
    const project = await aProject();
    const [flag, other] = [await aFlag(project), await aFlag(project)];
    const segment = await aSegment('before');
    const strategy = await addStrategy(project, flag, { segments: [segment] });
    await turnOn(project, flag);
    return { project, flag, other, strategy, segment };
  };

  const applied = async ({ project, flag }: Scene, id: number) => {
    const change = { action: 'updateEnabled' as const, feature: flag, payload: { enabled: false } };
    const changes = [{ id: 1, change, snapshot: null }];
    const body = {
      changeRequestId: id,
      attempt: 1,
      project,
      environment: 'development',
      changes,
      refuseOverwrites: false,
    };
    expect(await features.call(ApplyChanges, { body })).toMatchObject({ outcome: 'applied' });
  };

  const writes: readonly [what: string, write: Write][] = [
    ['a new feature', ({ project }) => aFlag(project)],
    ['a switch off', ({ project, flag }) => features.call(DisableFeature, { params: at(project, flag) })],
    ['a switch on', ({ project, other }) => turnOn(project, other)],
    ['a new strategy', ({ project, flag }) => addStrategy(project, flag, { parameters: { new: 'yes' } })],
    [
      'a patch of a strategy',
      ({ project, flag, strategy }) =>
        features.call(PatchStrategy, {
          params: { ...at(project, flag), strategyId: strategy },
          body: [{ op: 'add', path: '/parameters/x', value: 'y' }],
        }),
    ],
    [
      'a strategy that is disabled',
      async ({ project, flag, strategy }) => {
        await addStrategy(project, flag);
        await features.call(UpdateStrategy, {
          params: { ...at(project, flag), strategyId: strategy },
          body: { disabled: true, segments: [] },
        });
      },
    ],
    [
      'a deleted strategy',
      ({ project, flag, strategy }) =>
        features.call(DeleteStrategy, { params: { ...at(project, flag), strategyId: strategy } }),
    ],
    [
      'other segments of a strategy',
      ({ project, strategy }) =>
        features.call(SetStrategySegments, {
          body: { projectId: project, strategyId: strategy, environmentId: 'development', segmentIds: [] },
        }),
    ],
    [
      'a segment that is updated',
      ({ segment }) =>
        features.call(UpdateSegment, {
          params: { id: segment },
          body: {
            name: `s-${randomUUID()}`,
            constraints: [{ contextName: 'userId', operator: 'IN', values: ['after'] }],
          },
        }),
    ],
    [
      'a parent',
      ({ project, flag, other }) =>
        features.call(AddDependency, { params: { projectId: project, featureName: flag }, body: { feature: other } }),
    ],
    ['an archived feature', ({ project, other }) => archive(project, other)],
    [
      'other variants',
      ({ project, flag }) =>
        features.call(SetVariantsInBatch, {
          params: { projectId: project, featureName: flag },
          body: { environments: ['development'], variants: [{ name: 'blue', weight: 1000 }] },
        }),
    ],
    [
      'stale features',
      ({ project, flag }) =>
        features.call(SetStale, { params: { projectId: project }, body: { features: [flag], stale: true } }),
    ],
    [
      'impression data',
      ({ project, flag }) =>
        features.call(PatchFeature, {
          params: { projectId: project, featureName: flag },
          body: [{ op: 'replace', path: '/impressionData', value: true }],
        }),
    ],
    [
      'a feature that moves away',
      async ({ project, other }) => {
        const newProjectId = await aProject();
        await features.call(MoveFeature, {
          params: { projectId: project, featureName: other },
          body: { newProjectId },
        });
      },
    ],
    [
      'an environment that the project loses',
      ({ project }) =>
        features.call(RemoveProjectEnvironment, { params: { projectId: project, environment: 'development' } }),
    ],
    [
      'an import',
      ({ project }) =>
        features.call(ImportFeatures, {
          body: {
            project,
            environment: 'development',
            data: { features: [{ name: `f-${randomUUID()}` }], featureStrategies: [], tagTypes: [] },
          },
        }),
    ],
    ['a change request that is applied', (there) => applied(there, 1)],
  ];

  const archive = async (projectId: string, featureName: string): Promise<void> => {
    await features.call(ArchiveFeature, { params: { projectId, featureName } });
  };

  it.each(writes)('changes the entity tag of SDK replies in all replicas with %s', async (_what, write) => {
    const there = await scene();
    const tags = (from: StartedFeatures) =>
      Promise.all(
        [{}, { clientSpec: '5.1.9' }].map(
          async (query) => (await given(application(there.project), query, from)).meta.etag,
        ),
      );
    const before = await tags(features);
    expect(await tags(replica)).toEqual(before);
    await write(there);
    const [here, elsewhere] = [await tags(features), await tags(replica)];
    expect(elsewhere).toEqual(here);
    for (const [nth, tag] of here.entries()) expect(tag).not.toBe(before[nth]);
  });

  it('changes the entity tag when a parent is removed, when a feature is revived, and when tags change for a query by tags', async () => {
    const { project, flag, other } = await scene();
    await features.call(AddDependency, {
      params: { projectId: project, featureName: flag },
      body: { feature: other },
    });
    const tag = { type: 'simple', value: `t-${flag}` };
    await features.call(AddFeatureTag, { params: { featureName: other }, body: tag });
    const etag = async (query: ClientFeaturesQuery = {}) => (await given(application(project), query)).meta.etag;
    const byTag = { tag: [`${tag.type}:${tag.value}`] };
    const seen = [await etag()];
    const tagged = await etag(byTag);
    await features.call(RemoveDependencies, { params: { projectId: project, featureName: flag } });
    seen.push(await etag());
    await archive(project, other);
    await features.call(ReviveFeature, { params: { featureName: other } });
    expect(await etag()).toBe(seen.at(-1));
    await features.call(RemoveFeatureTag, { params: { featureName: other, ...tag } });
    expect(await etag()).toBe(seen.at(-1));
    expect(await etag(byTag)).not.toBe(tagged);
    expect(new Set(seen).size).toBe(2);
  });

  it('keeps the entity tag through edits that SDKs do not evaluate, and edits elsewhere', async () => {
    const there = await scene();
    const elsewhere = await scene();
    const before = await given(application(there.project));
    await features.call(AddFavoriteFeature, {
      params: { projectId: there.project, featureName: there.flag },
    });
    await turnOn(elsewhere.project, elsewhere.other);
    await features.call(EnableFeature, {
      params: at(there.project, there.flag, 'production'),
      query: {},
    });
    expect(await given(application(there.project))).toEqual(before);
  });

  it('detects a change whose transaction began before the previous look-up and committed after it', async () => {
    const { project, flag } = await scene();
    let commit: () => void = () => undefined;
    const mayCommit = new Promise<void>((resolve) => (commit = resolve));
    let written: () => void = () => undefined;
    const isWritten = new Promise<void>((resolve) => (written = resolve));
    const slow = features.database.transaction(async ({ query }) => {
      await query(`update feature set stale = true where name = $1`, [flag]);
      await query(`insert into outbox (topic, type, payload) values ('event', 'feature-stale-on', '{}')`);
      written();
      await mayCommit;
    });
    await isWritten;
    await aFlag(project);
    const seen = async () => named(await given(application(project)), flag)?.stale;
    expect(await seen()).toBe(false);
    commit();
    await slow;
    expect(await seen()).toBe(true);
  });
});

describe('an admin token', () => {
  it('returns to an admin token the named environment, or the first enabled one', async () => {
    const environmentOf = async (query: ClientFeaturesQuery = {}) => (await given(mia, query)).query.environment;
    expect(await environmentOf()).toBe('development');
    expect(await environmentOf({ environment: 'default' })).toBe('development');
    expect(await environmentOf({ environment: 'production' })).toBe('production');
    await expect(given(mia, { environment: 'nowhere' })).rejects.toMatchObject({
      kind: 'ValidationError',
      details: [{ path: '/query/environment' }],
    });

    await features.call(SwitchEnvironmentOff, { params: { name: 'development' } });
    expect(await environmentOf()).toBe('production');
    await features.call(SwitchEnvironmentOn, { params: { name: 'development' } });
    await features.call(CreateEnvironment, { body: { name: 'default', type: 'production' } });
    expect(await environmentOf()).toBe('default');
  });
});
