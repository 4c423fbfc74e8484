import { describe, expect, it } from 'vitest';
import {
  AddDependency,
  AddFavoriteFeature,
  AddFeatureTag,
  AddStrategy,
  ApplyChanges,
  ArchiveFeature,
  type StrategyProperties,
  CreateEnvironment,
  CreateFeature,
  CreateProject,
  CreateSegment,
  type DeliveredFeature,
  type DeliveryState,
  DeleteStrategy,
  DisableFeature,
  EnableFeature,
  ImportFeatures,
  MoveFeature,
  PatchFeature,
  PatchStrategy,
  outboxOperations,
  RemoveDependencies,
  RemoveFeatureTag,
  RemoveProjectEnvironment,
  ReviveFeature,
  SetStale,
  SetStrategyOrder,
  SetStrategySegments,
  SetVariantsOfEnvironments,
  SwitchEnvironmentOff,
  UpdateSegment,
  UpdateStrategy,
} from '@bunting/contracts';
import { randomUUID } from 'node:crypto';
import { useFeatures } from '../../test/started-features.ts';

const features = useFeatures();

/** What is recorded for SDKs after a position, oldest first. */
const recordedAfter = async (
  position: number,
): Promise<{ readonly head: number; readonly states: DeliveryState[] }> => {
  const body = { topic: 'delivery' as const, consumer: 'gateway', after: position, limit: 1_000 };
  const { messages, head } = await features.call(outboxOperations.features, { body });
  return { head, states: messages.map(({ payload }) => payload as DeliveryState) };
};
/** What a job records for SDKs. */
const recordedBy = async (job: () => Promise<unknown>): Promise<DeliveryState[]> => {
  const { head } = await recordedAfter(0);
  await job();
  return (await recordedAfter(head)).states;
};
type ActiveFeature = Extract<DeliveredFeature, { readonly archived: false }>;
/** What SDKs evaluate of a feature, as it was recorded last. */
const delivered = async (name: string): Promise<ActiveFeature | undefined> => {
  const { states } = await recordedAfter(0);
  const state = states.findLast(({ entity, id }) => entity === 'feature' && id === name)?.state;
  return state === undefined ? undefined : (state as ActiveFeature);
};
const inDevelopment = async (name: string) => (await delivered(name))?.environments['development'];

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

const addStrategy = async (projectId: string, featureName: string, more: Partial<StrategyProperties> = {}) => {
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

describe('what SDKs evaluate', () => {
  it('is recorded for each environment, without internal properties', async () => {
    const project = await aProject();
    const flag = await aFlag(project);
    const strategy = {
      name: 'flexibleRollout',
      parameters: { rollout: '50', stickiness: 'default', groupId: flag },
      constraints: [{ contextName: 'userId', operator: 'IN' as const, values: ['7'] }],
      variants: [{ name: 'blue', weight: 1000, weightType: 'variable' as const, stickiness: 'default' }],
    };
    await addStrategy(project, flag, { ...strategy, title: 'Half of them' });
    await turnOn(project, flag);
    const constraints = [{ ...strategy.constraints[0], inverted: false, caseInsensitive: false }];
    expect(await delivered(flag)).toEqual({
      name: flag,
      type: 'release',
      project,
      stale: false,
      description: null,
      impressionData: false,
      archived: false,
      tags: [],
      dependencies: [],
      environments: { development: { enabled: true, variants: [], strategies: [{ ...strategy, constraints }] } },
    });
  });

  it('lacks disabled strategies, and is off where all strategies are disabled', async () => {
    const project = await aProject();
    const flag = await aFlag(project);
    await addStrategy(project, flag, { name: 'default', parameters: { kept: 'yes' } });
    const disabled = await addStrategy(project, flag, { name: 'default', disabled: true });
    await turnOn(project, flag);
    expect(await inDevelopment(flag)).toMatchObject({ enabled: true, strategies: [{ parameters: { kept: 'yes' } }] });
    // No operation stores such a feature. If one did, the feature must not be enabled for all users.
    const store = (path: string) =>
      features.database.transaction(async ({ query }) => {
        await query(`update feature set environments = jsonb_set(environments, '${path}', 'true') where name = $1`, [
          flag,
        ]);
      });
    await store('{development,strategies,0,disabled}');
    await features.call(DeleteStrategy, { params: { ...at(project, flag), strategyId: disabled } });
    await store('{development,enabled}');
    await features.call(SetStale, { params: { projectId: project }, body: { features: [flag], stale: true } });
    expect(await inDevelopment(flag)).toMatchObject({ enabled: false, strategies: [] });
  });

  it('has strategies in their order, with the ids of their segments in order', async () => {
    const project = await aProject();
    const flag = await aFlag(project);
    const segments = [await aSegment('one'), await aSegment('other')];
    const ids: string[] = [];
    for (const place of ['a', 'b']) {
      ids.push(await addStrategy(project, flag, { parameters: { place }, segments: segments.toReversed() }));
    }
    const places = async () => (await inDevelopment(flag))?.strategies.map(({ parameters }) => parameters['place']);
    expect(await places()).toEqual(['a', 'b']);
    expect((await inDevelopment(flag))?.strategies).toMatchObject([{ segments }, { segments }]);
    const body = ids.map((id, nth) => ({ id, sortOrder: 2 - nth }));
    await features.call(SetStrategyOrder, { params: at(project, flag), body });
    expect(await places()).toEqual(['b', 'a']);
  });

  it('has dependencies, with variants only if the parent must be enabled', async () => {
    const project = await aProject();
    const [parent, on, off] = [await aFlag(project), await aFlag(project), await aFlag(project)];
    const depend = (featureName: string, body: { feature: string; enabled?: boolean; variants?: string[] }) =>
      features.call(AddDependency, { params: { projectId: project, featureName }, body });
    await depend(on, { feature: parent, variants: ['blue'] });
    await depend(off, { feature: parent, enabled: false });
    expect((await delivered(on))?.dependencies).toEqual([{ feature: parent, enabled: true, variants: ['blue'] }]);
    expect((await delivered(off))?.dependencies).toEqual([{ feature: parent, enabled: false }]);
  });

  it('names the environments, and the first one in their order that is on', async () => {
    const created = await recordedBy(() =>
      features.call(CreateEnvironment, { body: { name: 'staging', type: 'test', sortOrder: 7 } }),
    );
    expect(created).toEqual([
      { entity: 'environment', id: 'staging', state: { name: 'staging', enabled: true, sortOrder: 7 } },
    ]);
    const switched = await recordedBy(() => features.call(SwitchEnvironmentOff, { params: { name: 'staging' } }));
    expect(switched).toMatchObject([{ entity: 'environment', id: 'staging', state: { enabled: false } }]);
  });
});

describe('a write', () => {
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
        features.call(SetVariantsOfEnvironments, {
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

  it.each(writes)('records what SDKs evaluate after %s', async (_what, write) => {
    const there = await scene();
    const recorded = await recordedBy(() => write(there));
    expect(recorded.length).toBeGreaterThan(0);
    for (const { entity } of recorded) {
      expect(['feature', 'former-feature', 'segment', 'project-environment']).toContain(entity);
    }
  });

  it('records a feature that has lost its parent or its tags, is archived, and is revived as it was', async () => {
    const { project, flag, other } = await scene();
    const depends = { params: { projectId: project, featureName: flag } };
    await features.call(AddDependency, { ...depends, body: { feature: other } });
    const tag = { type: 'simple', value: `t-${flag}` };
    await features.call(AddFeatureTag, { params: { featureName: other }, body: tag });
    const before = await delivered(other);
    expect(before?.tags).toEqual([tag]);
    await features.call(RemoveDependencies, depends);
    expect((await delivered(flag))?.dependencies).toEqual([]);
    await archive(project, other);
    expect(await delivered(other)).toEqual({ name: other, project, archived: true });
    await features.call(ReviveFeature, { params: { featureName: other } });
    expect(await delivered(other)).toEqual(before);
    await features.call(RemoveFeatureTag, { params: { featureName: other, ...tag } });
    expect(await delivered(other)).toEqual({ ...before, tags: [] });
  });

  it('records nothing where SDKs evaluate the same as before', async () => {
    const there = await scene();
    const params = { projectId: there.project, featureName: there.flag };
    let created: unknown;
    const recorded = await recordedBy(async () => {
      await features.call(AddFavoriteFeature, { params });
      await turnOn(there.project, there.flag);
      const patch = { params: { ...at(there.project, there.flag), strategyId: there.strategy } };
      await features.call(PatchStrategy, { ...patch, body: [{ op: 'replace', path: '/title', value: 'Everyone' }] });
      const constraints = [{ contextName: 'userId', operator: 'IN' as const, values: ['before'] }];
      const body = { name: `s-${randomUUID()}`, constraints };
      const { id } = await features.call(CreateSegment, { body });
      created = { entity: 'segment', id: String(id), state: expect.objectContaining({ name: body.name }) };
      await features.call(UpdateSegment, { params: { id }, body: { ...body, description: 'Our testers' } });
    });
    expect(recorded).toEqual([created]);
  });

  it('records a feature that moves away as a former one of its project', async () => {
    const { project, other } = await scene();
    const newProjectId = await aProject();
    const recorded = await recordedBy(() =>
      features.call(MoveFeature, { params: { projectId: project, featureName: other }, body: { newProjectId } }),
    );
    expect(recorded).toMatchObject([
      { entity: 'feature', id: other, state: { project: newProjectId } },
      { entity: 'former-feature', state: { name: other, project } },
    ]);
  });
});
