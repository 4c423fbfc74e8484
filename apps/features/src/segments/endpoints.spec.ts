import {
  AddStrategy,
  CreateFeature,
  CreateProject,
  CreateSegment,
  type CreateSegmentBody,
  DeleteSegment,
  GetSegment,
  ListSegments,
  ListSegmentsOfStrategy,
  ListSegmentSummaries,
  ListStrategiesOfSegment,
  type Refusal,
  SetProtection,
  SetStrategySegments,
  UpdateSegment,
  ValidateSegmentName,
} from '@bunting/contracts';
import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { callerWith, lee, mia, useFeatures } from '../../test/started-features.ts';

const features = useFeatures();
beforeAll(async () => {
  await features.call(CreateProject, { body: { id: 'shop', name: 'shop' } });
});

describe('segments', () => {
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

  it('lists segments with the first values of their constraints, the context fields that they compare, and their use', async () => {
    await create({
      name: 'Compared',
      description: 'Some people',
      project: 'shop',
      constraints: [
        version,
        { contextName: 'userId', operator: 'IN', values: ['ann', 'bob', 'cyd', 'dee', 'eve'] },
        { contextName: 'userId', operator: 'NOT_IN', values: ['fay'] },
      ],
    });
    const { segments } = await features.call(ListSegmentSummaries, {});
    const contextNames = ['appName', 'userId'];
    expect(segments.find(({ name }) => name === 'Compared')).toEqual({
      id: expect.any(Number),
      name: 'Compared',
      description: 'Some people',
      project: 'shop',
      contextNames,
      constraints: [
        expect.objectContaining(version),
        expect.objectContaining({ operator: 'IN', values: ['ann', 'bob', 'cyd', 'dee'], valueCount: 5 }),
        expect.objectContaining({ operator: 'NOT_IN', values: ['fay'], valueCount: 1 }),
      ],
      createdAt: expect.any(String),
      usedInFeatures: 0,
    });
    expect(segments.find(({ name }) => name === 'Used')).toMatchObject({
      description: null,
      contextNames: [],
      usedInFeatures: 2,
    });
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
});

describe('segment uses', () => {
  let id: number;
  let strategyId: string;
  beforeEach(async () => {
    await features.database.transaction(({ query }) => query('truncate feature, segment cascade'));
    await features.create('checkout');
    const params = { projectId: 'default', featureName: 'checkout', environment: 'development' };
    ({ id } = await features.call(CreateSegment, { body: { name: 'beta', constraints: [] } }));
    const strategy = await features.call(AddStrategy, { params, body: { name: 'default', segments: [id] } });
    strategyId = strategy.id ?? '';
    await features.clearOutbox();
  });

  const body = { name: 'beta', constraints: [] };
  const emitted = async () =>
    (await features.emittedEvents()).map(({ type, project, data, preData }) => ({ type, project, data, preData }));

  it('updates a segment, with one event and its state', async () => {
    const after = { ...body, name: 'testers', description: 'those who test' };
    for (let nth = 0; nth < 2; nth++) await features.call(UpdateSegment, { params: { id }, body: after });
    const stored = await features.call(GetSegment, { params: { id } });
    expect(stored).toMatchObject(after);
    expect(stored).not.toHaveProperty('project');
    expect(await emitted()).toMatchObject([{ type: 'segment-updated', data: after, preData: { name: 'beta' } }]);
    expect((await features.states('segment')).at(-1)?.state).toMatchObject({ name: 'testers' });
    await features.call(CreateSegment, { body });
    await expect(features.call(UpdateSegment, { params: { id }, body })).rejects.toMatchObject({
      kind: 'NameExistsError',
    });
    for (const project of ['shop', 'moon']) {
      await expect(features.call(UpdateSegment, { params: { id }, body: { ...after, project } })).rejects.toMatchObject(
        {
          kind: 'ValidationError',
          message: /`\/body\/project`/,
        },
      );
    }
    await expect(features.call(UpdateSegment, { params: { id: 4711 }, body })).rejects.toMatchObject({
      kind: 'NotFoundError',
    });
  });

  it('refuses to change a global segment with a permission in one project', async () => {
    const kim = callerWith({ permission: 'UPDATE_PROJECT_SEGMENT', project: 'shop' });
    const refused = { kind: 'NoAccessError' };
    await expect(
      features.call(UpdateSegment, { params: { id }, body: { ...body, project: 'shop' } }, kim),
    ).rejects.toMatchObject(refused);
    await expect(features.call(DeleteSegment, { params: { id } }, kim)).rejects.toMatchObject(refused);
    const own = await features.call(CreateSegment, { body: { ...body, name: 'own', project: 'shop' } }, mia);
    await expect(
      features.call(UpdateSegment, { params: { id: own.id }, body: { ...body, name: 'own' } }, kim),
    ).rejects.toMatchObject(refused);
    await features.call(DeleteSegment, { params: { id: own.id } }, kim);
  });

  it('lists the uses of a segment, and deletes an unused one', async () => {
    const use = { id: strategyId, projectId: 'default', featureName: 'checkout', strategyName: 'default' };
    expect(await features.call(ListStrategiesOfSegment, { params: { id } })).toEqual({
      strategies: [{ ...use, environment: 'development' }],
      changeRequestStrategies: [],
      needsChangeRequest: false,
    });
    expect((await features.call(ListSegmentsOfStrategy, { params: { strategyId } })).segments).toMatchObject([{ id }]);
    await expect(features.call(DeleteSegment, { params: { id } })).rejects.toMatchObject({
      kind: 'ConflictError',
      message: /checkout/,
    });

    const input = { projectId: 'default', strategyId, environmentId: 'development' };
    for (let nth = 0; nth < 2; nth++) {
      const cleared = { ...input, segmentIds: [] };
      expect(await features.call(SetStrategySegments, { body: cleared })).toEqual(cleared);
    }
    await features.call(DeleteSegment, { params: { id } });
    expect(await emitted()).toMatchObject([
      { type: 'feature-strategy-update', data: { segments: [] }, preData: { segments: [id] } },
      { type: 'segment-deleted', preData: { id, name: 'beta' } },
    ]);
    expect((await features.states('segment')).at(-1)?.state).toBeNull();
    for (const operation of [DeleteSegment, ListStrategiesOfSegment]) {
      await expect(features.call(operation, { params: { id } })).rejects.toMatchObject({ kind: 'NotFoundError' });
    }
    await expect(features.call(ListSegmentsOfStrategy, { params: { strategyId: 'x' } })).rejects.toMatchObject({
      kind: 'NotFoundError',
    });
  });

  it('says whether an edit of a segment needs a change request, as the edit itself is refused', async () => {
    const [project, environment] = ['guarded', 'production'];
    await features.call(CreateProject, { body: { id: project, name: 'Guarded' } });
    const own = await features.call(CreateSegment, { body: { ...body, name: 'of the guarded', project } });
    await features.call(CreateFeature, { params: { projectId: project }, body: { name: 'guarded' } });
    const kim = callerWith({ permission: 'SKIP_CHANGE_REQUEST', project: 'shop' }, { permission: 'UPDATE_SEGMENT' });
    const answers = async (segment: { readonly id: number; readonly name: string; readonly project?: string }) => {
      const edit = { params: { id: segment.id }, body: { ...body, ...segment, description: randomUUID() } };
      const [needs, refused] = await Promise.all([
        Promise.all(
          [mia, kim].map((caller) => features.call(ListStrategiesOfSegment, { params: edit.params }, caller)),
        ),
        features.call(UpdateSegment, edit, kim).then(
          () => false,
          ({ permissions }: Refusal) => permissions?.join() === 'SKIP_CHANGE_REQUEST',
        ),
      ]);
      return { needs: needs.map(({ needsChangeRequest }) => needsChangeRequest), refused };
    };
    const everywhere = { id, name: body.name };
    expect(await answers(everywhere)).toEqual({ needs: [false, false], refused: false });
    await features.call(SetProtection, { body: { project, environment, isProtected: true, version: 1 } });
    expect(await answers(everywhere)).toEqual({ needs: [false, false], refused: false });
    // It may be used next in any environment of its project.
    expect(await answers({ id: own.id, name: own.name, project })).toEqual({ needs: [false, true], refused: true });
    await features.call(AddStrategy, {
      params: { projectId: project, featureName: 'guarded', environment },
      body: { name: 'default', segments: [id] },
    });
    expect(await answers(everywhere)).toEqual({ needs: [false, true], refused: true });
  });

  it('sets the segments of a strategy with the permission in its own project', async () => {
    const input = { projectId: 'default', strategyId, environmentId: 'development', segmentIds: [id, 4711] };
    await expect(features.call(SetStrategySegments, { body: input })).rejects.toMatchObject({ message: /"4711"/ });
    const kim = callerWith({ permission: 'UPDATE_FEATURE_STRATEGY', project: 'shop' });
    await expect(
      features.call(SetStrategySegments, { body: { ...input, projectId: 'shop' } }, kim),
    ).rejects.toMatchObject({
      kind: 'NoAccessError',
    });
    await expect(features.call(SetStrategySegments, { body: { ...input, projectId: 'shop' } })).rejects.toMatchObject({
      kind: 'NotFoundError',
    });
  });

  it('validates a name for a segment', async () => {
    const validate = (name: string) => features.call(ValidateSegmentName, { body: { name } });
    expect(await validate('new')).toBeNull();
    await expect(validate('beta')).rejects.toMatchObject({ kind: 'NameExistsError' });
    await expect(validate(' ')).rejects.toMatchObject({ kind: 'ValidationError', message: /`\/body\/name`/ });
  });
});
