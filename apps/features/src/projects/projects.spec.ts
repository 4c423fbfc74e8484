import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import {
  AddProjectEnvironment,
  CreateFeature,
  CreateProject,
  DeleteProject,
  type CreateProjectBody,
  EnableFeature,
  GetFeature,
  GetDeprecatedProjectOverview,
  ListEnvironmentSettingsOfProject,
  GetProjectOverview,
  ListProjects,
  RemoveProjectEnvironment,
  unavailable,
  UpdateProjectSettings,
  ValidateProjectId,
} from '@bunting/contracts';
import { ada, lee, mia, callerWith, type StartedFeatures, startFeatures } from '../../test/started-features.ts';

let features: StartedFeatures;
beforeAll(async () => {
  features = await startFeatures();
  await features.database.transaction(({ query }) =>
    query(`insert into environment (name, type, sort_order, enabled) values ('staging', 'preproduction', 1, false)`),
  );
});
afterAll(() => features.stop());
beforeEach(() => features.clearOutbox());

const create = (body: CreateProjectBody, caller = mia) => features.call(CreateProject, { body }, caller);

it('a fresh database has the project default in development and production', async () => {
  const { projects } = await features.call(ListProjects, {});
  expect(projects).toMatchObject([{ id: 'default', name: 'Default', mode: 'open', featureCount: 0, health: 100 }]);
  const { environments } = await features.call(ListEnvironmentSettingsOfProject, { params: { projectId: 'default' } });
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

it('refuses the environments of an unknown project', async () => {
  const params = { projectId: 'moon' };
  await expect(features.call(ListEnvironmentSettingsOfProject, { params })).rejects.toMatchObject({
    kind: 'NotFoundError',
  });
});
