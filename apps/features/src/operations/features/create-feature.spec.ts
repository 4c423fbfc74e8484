import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { CreateFeature, type CreateFeatureBody, CreateProject } from '@bunting/contracts';
import { aFeature } from '../../../test/builders.ts';
import { lee, mia, callerWith, type StartedFeatures, startFeatures } from '../../../test/started-features.ts';

let features: StartedFeatures;
beforeAll(async () => {
  features = await startFeatures();
  await features.call(CreateProject, { body: { id: 'shop', name: 'shop' } });
});
afterAll(() => features.stop());
beforeEach(() => features.clearOutbox());

const create = (body: CreateFeatureBody, projectId = 'shop', caller = mia) =>
  features.call(CreateFeature, { params: { projectId }, body }, caller);
const sql = (text: string, values: readonly unknown[] = []) =>
  features.database.transaction(({ query }) => query(text, values));

it('answers and tells the stored feature, and tells its state', async () => {
  const stored = await create({ name: 'banner', type: 'kill-switch', description: '', impressionData: true });
  expect(stored).toMatchObject({
    ...{ name: 'banner', type: 'kill-switch', description: null, project: 'shop' },
    ...{ stale: false, impressionData: true, archived: false, archivedAt: null },
  });
  expect(await features.emittedEvents()).toMatchObject([
    { type: 'feature-created', project: 'shop', featureName: 'banner', environment: null, data: stored, preData: null },
  ]);
  expect(await features.states('feature')).toMatchObject([
    {
      ...{ id: 'banner', version: 1 },
      state: {
        ...{ name: 'banner', project: 'shop', dependencyType: null, segments: [], favoritedBy: [] },
        lifecycle: { stage: 'initial' },
        environments: [
          { name: 'development', enabled: false, hasStrategies: false },
          { name: 'production', enabled: false, hasStrategies: false },
        ],
      },
    },
  ]);
});

it('creates the tags that are new, and tells of them first', async () => {
  const tags = [
    { type: 'simple', value: 'zebra' },
    { type: 'simple', value: 'ant' },
  ];
  await create({ name: 'tagged', tags: [...tags, ...tags] });
  await create({ name: 'tagged-too', tags });
  expect((await features.emittedEvents()).map(({ type, data }) => [type, (data as { value?: string }).value])).toEqual([
    ['tag-created', 'ant'],
    ['tag-created', 'zebra'],
    ['feature-created', undefined],
    ['feature-created', undefined],
  ]);
  expect((await features.get('tagged-too', mia, 'shop')).tags).toEqual([tags[1], tags[0]]);
});

it('stores nothing when a tag has a type that there is not', async () => {
  const tags = [
    { type: 'simple', value: 'kept?' },
    { type: 'colour', value: 'red' },
  ];
  await expect(create({ name: 'colourful', tags })).rejects.toMatchObject({
    kind: 'ValidationError',
    message: "Tag type 'colour' does not exist: see the `/body/tags/1/type` property.",
  });
  expect(await features.emittedEvents()).toEqual([]);
  await expect(features.get('colourful', mia, 'shop')).rejects.toMatchObject({ kind: 'NotFoundError' });
});

describe('refuses a name', () => {
  it('that is taken, in whichever project, and says when it is in the archive', async () => {
    await features.given(
      aFeature({ name: 'taken' }),
      aFeature({ name: 'gone', archivedAt: '2026-01-02T00:00:00.000Z' }),
    );
    await expect(create({ name: 'taken' }, 'default')).rejects.toMatchObject({
      kind: 'NameExistsError',
      message: 'A flag with that name already exists',
    });
    await expect(create({ name: 'gone' })).rejects.toMatchObject({
      kind: 'NameExistsError',
      message: 'An archived flag with that name already exists',
    });
  });

  it('that somebody else takes at the same moment', async () => {
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => create({ name: 'race' })));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ kind: 'NameExistsError' });
    }
    expect(await features.emittedEvents()).toHaveLength(1);
  });

  it('that cannot stand in a URL', async () => {
    for (const name of ['', 'a b', 'a/b', '..', 'ä', 'x'.repeat(101)]) {
      await expect(create({ name })).rejects.toMatchObject({ kind: 'ValidationError', message: /`\/body\/name`/ });
    }
    await create({ name: 'x'.repeat(100) });
  });

  it("that does not match the project's pattern, before it misses the project's room", async () => {
    await sql(`insert into project (id, name, feature_limit, feature_naming) values ('strict', 'Strict', 1, $1)`, [
      JSON.stringify({ pattern: '[a-z]+-[0-9]+', example: 'abc-12' }),
    ]);
    await create({ name: 'abc-1' }, 'strict');
    await expect(create({ name: 'nope' }, 'strict')).rejects.toMatchObject({ kind: 'PatternError' });
    await expect(create({ name: 'abc-2' }, 'strict')).rejects.toMatchObject({
      kind: 'InvalidOperationError',
      message: 'You have reached the maximum number of feature flags for this project.',
    });
  });
});

it("never passes a project's limit, however many ask at once", async () => {
  await sql(`insert into project (id, name, feature_limit) values ('small', 'Small', 3)`);
  const outcomes = await Promise.allSettled(
    Array.from({ length: 12 }, (_, nth) => create({ name: `small-${nth}` }, 'small')),
  );
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
});

it('is for an active project', async () => {
  await sql(`insert into project (id, name, archived_at) values ('past', 'Past', now())`);
  for (const project of ['past', 'moon']) {
    await expect(create({ name: 'homeless' }, project)).rejects.toMatchObject({
      kind: 'NotFoundError',
      message: `Active project with id ${project} does not exist`,
    });
  }
});

it('is for those who may create features in that project', async () => {
  await create({ name: 'by-kim' }, 'shop', callerWith({ permission: 'CREATE_FEATURE', project: 'shop' }));
  for (const caller of [lee, callerWith({ permission: 'CREATE_FEATURE', project: 'default' })]) {
    await expect(create({ name: 'by-other' }, 'shop', caller)).rejects.toMatchObject({ kind: 'NoAccessError' });
  }
});

it('holds the limit of the installation, where one is set', async () => {
  const limited = await startFeatures({ FEATURES_MAX_FEATURES: '2' });
  try {
    await limited.create('one');
    await limited.create('two');
    await expect(limited.create('three')).rejects.toMatchObject({
      kind: 'ExceedsLimitError',
      message: "Failed to create feature flag. You can't create more than the established limit of 2.",
    });
  } finally {
    await limited.stop();
  }
});
