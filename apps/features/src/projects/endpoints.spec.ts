import {
  AddFavoriteProject,
  AddProjectEnvironment,
  ArchiveProject,
  type Caller,
  CheckChanges,
  CreateContextField,
  CreateFeature,
  CountFeaturesOfProjects,
  CreateProject,
  type CreateProjectBody,
  CreateSegment,
  DeleteContextField,
  DeleteProject,
  DeleteSegment,
  EnableFeature,
  GetDeprecatedProjectOverview,
  GetFeature,
  GetProjectOverview,
  GetResourceLimits,
  ListEnvironmentSettingsOfProject,
  ListEnvironmentsOfProjects,
  ListFlagCreatorsOfProject,
  ListProjects,
  RemoveFavoriteProject,
  RemoveProjectEnvironment,
  ReviveProject,
  SetDefaultStrategy,
  SetProtection,
  unavailable,
  UpdateProject,
  UpdateProjectSettings,
  ValidateProjectId,
} from '@bunting/contracts';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { aFeature, aStrategy, aUserReference } from '../../test/builders.ts';
import { ada, callerWith, lee, mia, startFeatures, useFeatures } from '../../test/started-features.ts';

const features = useFeatures();

describe('projects', () => {
  beforeAll(async () => {
    await features.database.transaction(({ query }) =>
      query(`insert into environment (name, type, sort_order, enabled) values ('staging', 'preproduction', 1, false)`),
    );
  });
  beforeEach(() => features.clearOutbox());

  const create = (body: CreateProjectBody, caller = mia) => features.call(CreateProject, { body }, caller);

  it('a fresh database has the project default in development and production', async () => {
    const { projects } = await features.call(ListProjects, {});
    expect(projects).toMatchObject([{ id: 'default', name: 'Default', mode: 'open', featureCount: 0, health: 100 }]);
    const { environments } = await features.call(ListEnvironmentSettingsOfProject, {
      params: { projectId: 'default' },
    });
    expect(environments).toEqual([
      { name: 'development', type: 'development', sortOrder: 2, enabled: true, requiredApprovals: null },
      { name: 'production', type: 'production', sortOrder: 3, enabled: true, requiredApprovals: null },
    ]);
  });

  it('connects a new project to all enabled environments or to the named ones, with an event', async () => {
    const shop = await create({ id: 'shop', name: 'Shop' });
    expect(shop).toEqual({
      id: 'shop',
      name: 'Shop',
      mode: 'open',
      defaultStickiness: 'default',
      environments: ['development', 'production'],
    });
    const garage = await create({ id: 'garage', name: 'Garage', environments: ['production', 'staging', 'staging'] });
    expect(garage.environments).toEqual(['staging', 'production']);
    expect(await features.emittedEvents()).toMatchObject([
      { type: 'project-created', project: 'shop', data: shop },
      { type: 'project-created', project: 'garage', data: garage },
    ]);
  });

  it('enforces FEATURES_MAX_PROJECTS and FEATURES_MAX_SEGMENTS, and says them to user interfaces', async () => {
    const limited = await startFeatures({ FEATURES_MAX_PROJECTS: '2', FEATURES_MAX_SEGMENTS: '1' });
    try {
      expect(await limited.call(GetResourceLimits, {})).toMatchObject({ projects: 2, segments: 1 });
      // With the project `default` there are two.
      await limited.call(CreateProject, { body: { id: 'second', name: 'Second' } });
      await expect(limited.call(CreateProject, { body: { id: 'third', name: 'Third' } })).rejects.toMatchObject({
        kind: 'ExceedsLimitError',
        message: "Failed to create project. You can't create more than the established limit of 2.",
      });
      await limited.call(CreateSegment, { body: { name: 'one', constraints: [] } });
      await expect(limited.call(CreateSegment, { body: { name: 'two', constraints: [] } })).rejects.toMatchObject({
        kind: 'ExceedsLimitError',
        message: "Failed to create segment. You can't create more than the established limit of 1.",
      });
    } finally {
      await limited.stop();
    }
  });

  it('creates a project with a limit of features', async () => {
    expect(await create({ id: 'stall', name: 'Stall', featureLimit: 1 })).toMatchObject({ featureLimit: 1 });
    const params = { projectId: 'stall' };
    await features.call(CreateFeature, { params, body: { name: 'awning' } });
    await expect(features.call(CreateFeature, { params, body: { name: 'scales' } })).rejects.toMatchObject({
      kind: 'InvalidOperationError',
    });
  });

  it('creates a project without environments if the list is empty', async () => {
    const { environments } = await create({ id: 'bare', name: 'Bare', environments: [] });
    expect(environments).toEqual([]);
    const params = { projectId: 'bare' };
    expect(await features.call(ListEnvironmentSettingsOfProject, { params })).toEqual({ environments: [] });
    expect(await features.call(GetProjectOverview, { params })).toMatchObject({ environments: [] });

    await features.call(CreateFeature, { params, body: { name: 'lamp' } });
    const lamp = () => features.call(GetFeature, { params: { ...params, featureName: 'lamp' } });
    expect(await lamp()).toMatchObject({ enabled: false, environments: [] });
    expect(await features.lastState('lamp')).toMatchObject({ environments: [] });
    const at = { ...params, featureName: 'lamp', environment: 'production' };
    await expect(features.call(EnableFeature, { params: at })).rejects.toMatchObject({ kind: 'NotFoundError' });
    const query = { environment: 'production' };

    await features.call(AddProjectEnvironment, { params, body: query });
    await features.call(EnableFeature, { params: at });
    expect(await lamp()).toMatchObject({ enabled: true, environments: [{ name: 'production', enabled: true }] });
    await features.call(RemoveProjectEnvironment, { params: { ...params, ...query } });
    expect(await lamp()).toMatchObject({ enabled: false, environments: [] });
  });

  it('returns the members and owners of a project, or the system if it has no owner', async () => {
    const { projects } = await features.call(ListProjects, {});
    expect(projects.find(({ id }) => id === 'default')).toMatchObject({ memberCount: 3, owners: [ada] });
    expect(projects.find(({ id }) => id === 'shop')).toMatchObject({
      memberCount: 0,
      owners: [{ ownerType: 'system' }],
    });
    for (const operation of [GetProjectOverview, GetDeprecatedProjectOverview]) {
      const read = (projectId: string) => features.call(operation, { params: { projectId } });
      expect(await read('default')).toMatchObject({ members: 3, owners: [ada] });
      expect(await read('shop')).toMatchObject({ members: 0, owners: [{ ownerType: 'system' }] });
    }
  });

  it('makes the id of a project from its name if none is given', async () => {
    expect((await create({ name: ' Café & Bar 24 ' })).id).toBe('cafe-bar-24');
    expect((await create({ id: '', name: 'Cafe Bar 24' })).id).toMatch(/^cafe-bar-24-[0-9a-f]{8}$/);
    expect((await create({ id: null, name: '喫茶店' })).id).toBe('project');
  });

  it('gives concurrent projects of one name an id each', async () => {
    const created = await Promise.all(Array.from({ length: 8 }, () => create({ name: 'Twins' })));
    expect(new Set(created.map(({ id }) => id)).size).toBe(8);
  });

  it('refuses a project with a taken or invalid id, or with unknown environments', async () => {
    await expect(create({ id: 'default', name: 'Mine' })).rejects.toMatchObject({
      kind: 'NameExistsError',
      message: 'A project with this id already exists.',
    });
    const outcomes = await Promise.allSettled([create({ id: 'race', name: 'A' }), create({ id: 'race', name: 'B' })]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const refused: [CreateProjectBody, RegExp][] = [
      [{ id: 'a b', name: 'A' }, /`\/body\/id`/],
      [{ name: '   ' }, /`\/body\/name`/],
      [{ name: 'A', environments: ['production', 'moon'] }, /`\/body\/environments\/1`.*moon/],
    ];
    for (const [body, message] of refused) {
      await expect(create(body)).rejects.toMatchObject({ kind: 'ValidationError', message });
    }
  });

  it('lets only administrators reuse the id of a deleted private project', async () => {
    const kim = callerWith({ permission: 'CREATE_PROJECT' });
    const remove = (projectId: string) => features.call(DeleteProject, { params: { projectId } });
    for (const id of ['merger', 'opened']) await create({ id, name: 'Merger', mode: 'private' });
    await features.call(UpdateProjectSettings, { params: { projectId: 'opened' }, body: { mode: 'open' } });
    for (const id of ['merger', 'opened']) await remove(id);
    expect((await features.states('project')).slice(-2)).toMatchObject([
      { id: 'merger', state: null, lastMode: 'private' },
      { id: 'opened', state: null, lastMode: 'open' },
    ]);
    const taken = { kind: 'NameExistsError', message: 'A project with this id already exists.' };
    const validate = (id: string, caller = kim) => features.call(ValidateProjectId, { body: { id } }, caller);
    await expect(create({ id: 'merger', name: 'Mine' }, kim)).rejects.toMatchObject(taken);
    await expect(validate('merger')).rejects.toMatchObject(taken);
    expect((await create({ name: 'Merger' }, kim)).id).toMatch(/^merger-[0-9a-f]{8}$/);
    expect(await validate('opened')).toBeNull();
    await create({ id: 'opened', name: 'Mine' }, kim);
    expect(await validate('merger', mia)).toBeNull();
    await create({ id: 'merger', name: 'Merger' });
    await remove('merger');
    await create({ id: 'merger', name: 'Mine' }, kim);
  });

  it('has the gateway hide a private project before the commit, and commits nothing if that fails', async () => {
    const seen: unknown[] = [];
    let isAway = false;
    const hiding = await startFeatures({}, async ({ id, version }) => {
      if (isAway) throw unavailable('The gateway is away.');
      const { projects } = await hiding.call(ListProjects, {});
      seen.push([id, version, projects.find((project) => project.id === id)?.mode]);
    });
    try {
      const body = { id: 'merger', name: 'Merger' };
      const settings = (mode: 'open' | 'private') =>
        hiding.call(UpdateProjectSettings, { params: { projectId: 'merger' }, body: { mode } });
      await hiding.call(CreateProject, { body: { ...body, mode: 'private' } });
      await settings('open');
      await settings('private');
      await hiding.call(CreateProject, { body: { id: 'open', name: 'Open' } });
      const emitted = (await hiding.states('project')).filter(({ state }) => state?.mode === 'private');
      expect(seen).toEqual([
        ['merger', emitted[0]?.version, undefined],
        ['merger', emitted[1]?.version, 'open'],
      ]);
      isAway = true;
      await expect(
        hiding.call(CreateProject, { body: { id: 'secret', name: 'Secret', mode: 'private' } }),
      ).rejects.toMatchObject({ kind: 'ServiceUnavailable' });
      const { projects } = await hiding.call(ListProjects, {});
      expect(projects.map(({ id }) => id)).not.toContain('secret');
    } finally {
      await hiding.stop();
    }
  });

  it('creates a project only with CREATE_PROJECT', async () => {
    await create({ id: 'of-kim', name: 'Of Kim' }, callerWith({ permission: 'CREATE_PROJECT' }));
    await expect(create({ id: 'of-lee', name: 'Of Lee' }, lee)).rejects.toMatchObject({ kind: 'NoAccessError' });
    const withinOne = callerWith({ permission: 'CREATE_PROJECT', project: 'default' });
    await expect(create({ id: 'of-one', name: 'Of One' }, withinOne)).rejects.toMatchObject({ kind: 'NoAccessError' });
  });

  it('lists the environments of many projects at once, without those that are archived or unknown', async () => {
    const placesOf = async (...projects: string[]) =>
      (await features.call(ListEnvironmentsOfProjects, { body: { projects } })).environments;
    for (const id of ['one-of-many', 'other-of-many']) await create({ id, name: id, environments: ['production'] });
    await features.call(AddProjectEnvironment, {
      params: { projectId: 'one-of-many' },
      body: { environment: 'development' },
    });
    expect(await placesOf('moon', 'other-of-many', 'one-of-many')).toEqual([
      { project: 'one-of-many', environment: 'development' },
      { project: 'one-of-many', environment: 'production' },
      { project: 'other-of-many', environment: 'production' },
    ]);
    await features.call(ArchiveProject, { params: { projectId: 'one-of-many' } });
    expect(await placesOf('one-of-many')).toEqual([]);
  });

  it('refuses the environments of an unknown project', async () => {
    const params = { projectId: 'moon' };
    await expect(features.call(ListEnvironmentSettingsOfProject, { params })).rejects.toMatchObject({
      kind: 'NotFoundError',
    });
  });
});

describe('project settings', () => {
  beforeEach(async () => {
    await features.database.transaction(({ query }) => query(`delete from feature`));
    await features.database.transaction(({ query }) => query(`delete from project where id <> 'default'`));
    await features.call(CreateProject, { body: { id: 'shop', name: 'Shop', environments: ['development'] } });
    await features.clearOutbox();
  });

  const params = { projectId: 'shop' };
  const overview = () => features.call(GetProjectOverview, { params });
  const emitted = async () =>
    (await features.emittedEvents()).map(({ type, project, environment, data, preData }) => ({
      type,
      project,
      environment,
      data,
      preData,
    }));

  it('updates a project and its settings, with one event each', async () => {
    for (let nth = 0; nth < 2; nth++) {
      await features.call(UpdateProject, { params, body: { name: 'Store', description: 'sells' } });
      const featureNaming = { pattern: '[a-z]+', example: 'abc' };
      await features.call(UpdateProjectSettings, {
        params,
        body: { mode: 'protected', featureLimit: 9, featureNaming },
      });
    }
    expect(await overview()).toMatchObject({
      name: 'Store',
      description: 'sells',
      mode: 'protected',
      featureLimit: 9,
      members: 0,
      health: 100,
      featureNaming: { pattern: '[a-z]+', example: 'abc' },
      updatedAt: expect.any(String),
      favorite: false,
      environments: [{ environment: 'development' }],
    });
    expect(await emitted()).toMatchObject([
      { type: 'project-updated', project: 'shop', preData: { name: 'Shop' }, data: { name: 'Store' } },
      { type: 'project-updated', project: 'shop', preData: { mode: 'open' }, data: { mode: 'protected' } },
    ]);
    const backtracking = { featureNaming: { pattern: '(a)\\1' } };
    await expect(features.call(UpdateProjectSettings, { params, body: backtracking })).rejects.toMatchObject({
      kind: 'PatternError',
    });
    await expect(features.call(UpdateProject, { params, body: { name: 'Mine' } }, lee)).rejects.toMatchObject({
      kind: 'NoAccessError',
    });
  });

  it('lists a project with its counts', async () => {
    await features.given(
      aFeature({ createdBy: aUserReference(2, 'lee') }),
      aFeature({ name: 'old', stale: true, type: 'experiment' }),
      aFeature({ name: 'gone', archivedAt: '2026-01-02T00:00:00.000Z' }),
    );
    const counts = [
      { type: 'experiment', count: 1 },
      { type: 'release', count: 1 },
    ];
    expect(await overview()).toMatchObject({ health: 50, featureTypeCounts: counts });
    const whole = await features.call(GetDeprecatedProjectOverview, { params });
    expect(whole.features.map(({ name }) => name)).toEqual(['checkout', 'old']);
    expect(await features.call(ListFlagCreatorsOfProject, { params })).toEqual([
      { id: 2, name: 'lee' },
      { id: 1, name: 'mia' },
    ]);
  });

  it('lists an archived project among the archived ones only, until it is revived', async () => {
    const ids = async (query: { archived?: boolean }, caller?: Caller) =>
      (await features.call(ListProjects, { query }, caller)).projects.map(({ id }) => id);
    await features.call(ArchiveProject, { params });
    const { projects } = await features.call(ListProjects, { query: { archived: true } });
    expect(projects).toEqual([
      expect.objectContaining({
        id: 'shop',
        archivedAt: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/),
      }),
    ]);
    expect(await ids({})).not.toContain('shop');
    expect(await ids({ archived: false })).not.toContain('shop');
    expect(await ids({ archived: true }, { ...lee, hiddenProjects: ['shop'] })).toEqual([]);
    await features.call(ReviveProject, { params });
    expect(await ids({ archived: true })).toEqual([]);
    expect(await ids({})).toContain('shop');
  });

  it('archives, revives and deletes a project without active features', async () => {
    await features.given(aFeature());
    for (const operation of [ArchiveProject, DeleteProject]) {
      await expect(features.call(operation, { params })).rejects.toMatchObject({ kind: 'InvalidOperationError' });
    }
    await features.database.transaction(({ query }) => query('truncate feature cascade'));
    await features.given(aFeature({ archivedAt: '2026-01-02T00:00:00.000Z' }));
    await features.call(CreateSegment, { body: { name: 'own', project: 'shop', constraints: [] } });
    await features.clearOutbox();
    for (const operation of [ArchiveProject, ArchiveProject, ReviveProject, ReviveProject, DeleteProject]) {
      await features.call(operation, { params });
    }
    expect((await emitted()).map(({ type }) => type)).toEqual([
      'project-archived',
      'project-revived',
      'feature-deleted',
      'segment-deleted',
      'project-deleted',
    ]);
    expect((await features.states('segment')).at(-1)?.state).toBeNull();
    await expect(overview()).rejects.toMatchObject({ kind: 'NotFoundError' });
    await expect(features.call(DeleteProject, { params: { projectId: 'default' } })).rejects.toMatchObject({
      kind: 'InvalidOperationError',
      message: 'You can not delete the default project!',
    });
  });

  it('connects and disconnects environments, with the strategies of features in them', async () => {
    await features.given(
      aFeature({
        environments: { development: { enabled: true, strategies: [aStrategy({ id: 'x' })], variants: [] } },
      }),
    );
    const production = { environment: 'production' };
    await features.call(AddProjectEnvironment, { params, body: production });
    const environments = async () => (await features.lastState('checkout'))?.environments.map(({ name }) => name);
    expect(await environments()).toEqual(['development', 'production']);
    await expect(features.call(AddProjectEnvironment, { params, body: production })).rejects.toMatchObject({
      kind: 'ConflictError',
    });
    await expect(features.call(AddProjectEnvironment, { params, body: { environment: 'moon' } })).rejects.toMatchObject(
      {
        kind: 'ValidationError',
        message: /`\/body\/environment`/,
      },
    );

    const remove = (environment: string) =>
      features.call(RemoveProjectEnvironment, { params: { ...params, environment } });
    await remove('development');
    expect(await environments()).toEqual(['production']);
    await expect(remove('moon')).rejects.toMatchObject({ kind: 'NotFoundError' });
    expect(await emitted()).toMatchObject([
      { type: 'project-environment-added', project: 'shop', environment: 'production' },
      { type: 'project-environment-removed', project: 'shop', environment: 'development' },
    ]);
    await features.call(AddProjectEnvironment, { params, body: { environment: 'development' } });
    expect((await features.get('checkout', undefined, 'shop')).environments).toMatchObject([
      { name: 'development', enabled: false, strategies: [] },
      { name: 'production' },
    ]);
  });

  it('sets the default strategy of an environment, which features then get', async () => {
    const at = { ...params, environment: 'development' };
    const body = { name: 'flexibleRollout', parameters: { rollout: '25', stickiness: 'default' } };
    for (let nth = 0; nth < 2; nth++) {
      expect(await features.call(SetDefaultStrategy, { params: at, body })).toMatchObject(body);
    }
    expect(await emitted()).toMatchObject([
      { type: 'default-strategy-updated', project: 'shop', environment: 'development', data: body, preData: null },
    ]);
    expect((await overview()).environments).toMatchObject([{ defaultStrategy: body }]);
    await features.given(aFeature());
    await features.call(EnableFeature, { params: { ...at, featureName: 'checkout' } } as never);
    expect((await features.get('checkout', undefined, 'shop')).environments).toMatchObject([
      { enabled: true, strategies: [{ name: 'flexibleRollout', parameters: { rollout: '25' } }] },
    ]);
    await expect(
      features.call(SetDefaultStrategy, { params: { ...at, environment: 'moon' }, body }),
    ).rejects.toMatchObject({ kind: 'NotFoundError' });
  });

  it('refuses to delete segments and context fields that a default strategy uses, so that features can still be enabled', async () => {
    const at = { ...params, environment: 'development' };
    const { id } = await features.call(CreateSegment, { body: { name: 'beta', constraints: [] } });
    await features.call(CreateContextField, { body: { name: 'region' } });
    const constraints = [{ contextName: 'region', operator: 'IN' as const, values: ['eu'] }];
    const body = { name: 'flexibleRollout', segments: [id], constraints };
    await features.call(SetDefaultStrategy, { params: at, body });
    const inUse = {
      kind: 'ConflictError',
      message: expect.stringContaining('in use by the default strategy of development in project shop'),
    };
    await expect(features.call(DeleteSegment, { params: { id } })).rejects.toMatchObject(inUse);
    await expect(features.call(DeleteContextField, { params: { name: 'region' } })).rejects.toMatchObject(inUse);
    const change = { action: 'deleteSegment' as const, payload: { id } };
    const proposal = { project: 'shop', environment: 'development', changes: [change], earlier: [] };
    await features.database.transaction(({ query }) =>
      query(`update segment set project = 'shop' where id = $1`, [id]),
    );
    await expect(features.call(CheckChanges, { body: proposal })).rejects.toMatchObject({
      message: expect.stringContaining('the default strategy of development'),
    });

    await features.call(SetDefaultStrategy, { params: at, body: { name: 'flexibleRollout' } });
    await features.call(DeleteSegment, { params: { id } });
    await features.call(DeleteContextField, { params: { name: 'region' } });
  });

  it('stores the favourite projects of users', async () => {
    for (let nth = 0; nth < 2; nth++) await features.call(AddFavoriteProject, { params }, lee);
    expect(await features.call(GetProjectOverview, { params }, lee)).toMatchObject({ favorite: true });
    expect(await overview()).toMatchObject({ favorite: false });
    const { projects } = await features.call(ListProjects, {}, lee);
    expect(projects.map(({ id, favorite }) => [id, favorite])).toEqual([
      ['default', false],
      ['shop', true],
    ]);
    for (let nth = 0; nth < 2; nth++) await features.call(RemoveFavoriteProject, { params }, lee);
    const data = { project: 'shop' };
    expect(await emitted()).toMatchObject([
      { type: 'project-favorited', project: 'shop', data },
      { type: 'project-unfavorited', project: 'shop', data },
    ]);
  });

  it('counts the features of all projects: those that are on in a production environment of theirs, and stale ones', async () => {
    const on = { enabled: true, strategies: [aStrategy()], variants: [] };
    await features.given(
      aFeature({ name: 'live', environments: { production: on } }),
      aFeature({ name: 'live-and-stale', stale: true, environments: { production: on } }),
      aFeature({ name: 'in-development', environments: { development: on } }),
      aFeature({ name: 'gone', archivedAt: '2026-01-01T00:00:00.000Z', environments: { production: on } }),
    );
    const countsFor = async (caller = lee) =>
      (await features.call(CountFeaturesOfProjects, {}, caller)).projects.filter(({ id }) => id === 'shop');
    // Neither is an environment that the project does not have.
    expect(await countsFor()).toEqual([{ id: 'shop', features: 3, live: 0, stale: 1 }]);
    await features.call(AddProjectEnvironment, { params, body: { environment: 'production' } });
    expect(await countsFor()).toEqual([{ id: 'shop', features: 3, live: 2, stale: 1 }]);
    expect(await countsFor({ ...lee, hiddenProjects: ['shop'] })).toEqual([]);
  });

  it('refuses to disconnect a protected environment without SKIP_CHANGE_REQUEST', async () => {
    await features.call(AddProjectEnvironment, { params, body: { environment: 'production' } });
    const enabled = { production: { enabled: true, strategies: [aStrategy()], variants: [] } };
    await features.given(aFeature({ environments: enabled }));
    const production = { project: 'shop', environment: 'production' };
    await features.call(SetProtection, { body: { ...production, isProtected: true, version: 1 } });
    await features.clearOutbox();
    const remove = (...grants: Parameters<typeof callerWith>) =>
      features.call(
        RemoveProjectEnvironment,
        { params: { ...params, environment: 'production' } },
        callerWith(...grants),
      );
    const [owner, skipper] = [
      { permission: 'UPDATE_PROJECT', project: 'shop' },
      { permission: 'SKIP_CHANGE_REQUEST', ...production },
    ] as const;
    await expect(remove(owner)).rejects.toMatchObject({ kind: 'NoAccessError', permissions: ['SKIP_CHANGE_REQUEST'] });
    const { environments = [] } = await features.get('checkout', undefined, 'shop');
    expect(environments.find(({ name }) => name === 'production')).toMatchObject({ enabled: true, strategies: [{}] });
    expect(await emitted()).toEqual([]);
    await remove(owner, skipper);
    expect(await emitted()).toMatchObject([
      { type: 'project-environment-removed', ...production, data: { bypassedChangeRequest: true } },
    ]);
    await features.call(SetProtection, { body: { ...production, isProtected: false, version: 2 } });
  });

  it('refuses an unknown project, and validates ids', async () => {
    const nowhere = { projectId: 'moon' };
    const body = { name: 'Moon' };
    for (const operation of [
      GetDeprecatedProjectOverview,
      GetProjectOverview,
      ListFlagCreatorsOfProject,
      UpdateProject,
      ArchiveProject,
    ]) {
      await expect(features.call(operation, { params: nowhere, body } as never)).rejects.toMatchObject({
        kind: 'NotFoundError',
      });
    }
    await expect(features.call(AddFavoriteProject, { params: nowhere })).rejects.toMatchObject({
      kind: 'NotFoundError',
    });
    const kim = callerWith({ permission: 'CREATE_PROJECT' });
    const validate = (id: string) => features.call(ValidateProjectId, { body: { id } }, kim);
    expect(await validate('new')).toBeNull();
    await expect(validate('shop')).rejects.toMatchObject({ kind: 'NameExistsError' });
    await expect(validate('a b')).rejects.toMatchObject({ message: /`\/body\/id`/ });
  });
});
