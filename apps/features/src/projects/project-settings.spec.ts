import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import {
  AddFavoriteProject,
  AddProjectEnvironment,
  ArchiveProject,
  type Caller,
  CheckChanges,
  CreateContextField,
  CreateProject,
  CreateSegment,
  DeleteContextField,
  DeleteProject,
  DeleteSegment,
  EnableFeature,
  GetDeprecatedProjectOverview,
  GetProjectOverview,
  ListFlagCreatorsOfProject,
  ListProjects,
  RemoveFavoriteProject,
  RemoveProjectEnvironment,
  ReviveProject,
  SetDefaultStrategy,
  SetProtection,
  UpdateProject,
  UpdateProjectSettings,
  ValidateProjectId,
} from '@bunting/contracts';
import { aFeature, aUserReference, aStrategy } from '../../test/builders.ts';
import { lee, callerWith, type StartedFeatures, startFeatures } from '../../test/started-features.ts';

let features: StartedFeatures;
beforeAll(async () => {
  features = await startFeatures();
});
afterAll(() => features.stop());
beforeEach(async () => {
  await features.database.transaction(({ query }) => query(`truncate feature cascade`));
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
    await features.call(UpdateProjectSettings, { params, body: { mode: 'protected', featureLimit: 9, featureNaming } });
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
    aFeature({ environments: { development: { enabled: true, strategies: [aStrategy({ id: 'x' })], variants: [] } } }),
  );
  const production = { environment: 'production' };
  await features.call(AddProjectEnvironment, { params, body: production });
  const environments = async () => (await features.lastState('checkout'))?.environments.map(({ name }) => name);
  expect(await environments()).toEqual(['development', 'production']);
  await expect(features.call(AddProjectEnvironment, { params, body: production })).rejects.toMatchObject({
    kind: 'ConflictError',
  });
  await expect(features.call(AddProjectEnvironment, { params, body: { environment: 'moon' } })).rejects.toMatchObject({
    kind: 'ValidationError',
    message: /`\/body\/environment`/,
  });

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
  await features.database.transaction(({ query }) => query(`update segment set project = 'shop' where id = $1`, [id]));
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
  await expect(features.call(AddFavoriteProject, { params: nowhere })).rejects.toMatchObject({ kind: 'NotFoundError' });
  const kim = callerWith({ permission: 'CREATE_PROJECT' });
  const validate = (id: string) => features.call(ValidateProjectId, { body: { id } }, kim);
  expect(await validate('new')).toBeNull();
  await expect(validate('shop')).rejects.toMatchObject({ kind: 'NameExistsError' });
  await expect(validate('a b')).rejects.toMatchObject({ message: /`\/body\/id`/ });
});
