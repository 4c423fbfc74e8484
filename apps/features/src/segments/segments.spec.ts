import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import {
  AddStrategy,
  CreateProject,
  CreateSegment,
  type CreateSegmentBody,
  GetSegment,
  ListSegments,
} from '@bunting/contracts';
import { lee, mia, callerWith, type StartedFeatures, startFeatures } from '../../test/started-features.ts';

let features: StartedFeatures;
beforeAll(async () => {
  features = await startFeatures();
  await features.call(CreateProject, { body: { id: 'shop', name: 'shop' } });
});
afterAll(() => features.stop());
beforeEach(() => features.clearOutbox());

const create = (body: Partial<CreateSegmentBody>, caller = mia) =>
  features.call(CreateSegment, { body: { name: 'unnamed', constraints: [], ...body } }, caller);
const version = { contextName: 'appName', operator: 'SEMVER_GT', value: '1.2.3' } as const;

it('replies with the created segment, and emits its event and state', async () => {
  const segment = await create({ name: 'new apps', project: 'shop', constraints: [version] });
  expect(segment).toMatchObject({
    name: 'new apps',
    description: null,
    project: 'shop',
    createdBy: 'mia',
    constraints: [{ ...version, values: [], inverted: false, caseInsensitive: false }],
  });
  expect(await features.call(GetSegment, { params: { id: segment.id } })).toEqual(segment);
  expect(await features.emittedEvents()).toMatchObject([
    { type: 'segment-created', project: 'shop', data: segment, preData: null },
  ]);
  expect(await features.states('segment')).toEqual([
    {
      entity: 'segment',
      id: String(segment.id),
      version: 1,
      state: { id: segment.id, name: 'new apps', project: 'shop' },
    },
  ]);
});

it('lists segments by name with the numbers of their uses', async () => {
  const used = await create({ name: 'Used' });
  for (const [projectId, name] of [
    ['default', 'one'],
    ['default', 'two'],
  ] as const) {
    await features.create(name);
    for (const environment of ['development', 'production']) {
      const params = { projectId, featureName: name, environment };
      await features.call(AddStrategy, { params, body: { name: 'default', segments: [used.id] } });
    }
  }
  const { segments } = await features.call(ListSegments, {});
  expect(segments.map(({ name, usedInProjects, usedInFeatures }) => [name, usedInProjects, usedInFeatures])).toEqual([
    ['Used', 1, 2],
    ['new apps', 0, 0],
  ]);
});

it('refuses a taken name of a segment, also under concurrent requests', async () => {
  const outcomes = await Promise.allSettled([create({ name: 'twice' }), create({ name: 'twice', project: 'shop' })]);
  expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  await expect(create({ name: 'twice' })).rejects.toMatchObject({
    kind: 'NameExistsError',
    message: 'Segment name already exists',
  });
});

it('refuses a segment with invalid constraints or an unknown project, and names them', async () => {
  await expect(create({ constraints: [{ ...version, value: 'new' }] })).rejects.toMatchObject({
    kind: 'ValidationError',
    message: /`\/body\/constraints\/0\/value`/,
  });
  await expect(create({ project: 'moon' })).rejects.toMatchObject({
    kind: 'ValidationError',
    message: /`\/body\/project`.*moon/,
  });
  expect(await features.emittedEvents()).toEqual([]);
});

it('refuses an unknown segment', async () => {
  await expect(features.call(GetSegment, { params: { id: 4711 } })).rejects.toMatchObject({
    kind: 'NotFoundError',
    message: 'No segment exists with ID "4711"',
  });
});

it('creates segments with UPDATE_PROJECT_SEGMENT in its projects only, and no global ones', async () => {
  const kim = callerWith({ permission: 'UPDATE_PROJECT_SEGMENT', project: 'shop' });
  const inAllProjects = callerWith({ permission: 'UPDATE_PROJECT_SEGMENT' });
  const withinShop = callerWith({ permission: 'CREATE_SEGMENT', project: 'shop' });
  await create({ name: 'of the shop', project: 'shop' }, kim);
  for (const [project, caller] of [
    [null, kim],
    [null, inAllProjects],
    ['default', kim],
    [null, withinShop],
    ['default', withinShop],
    ['shop', lee],
  ] as const) {
    await expect(create({ name: 'of others', project }, caller)).rejects.toMatchObject({ kind: 'NoAccessError' });
  }
});
