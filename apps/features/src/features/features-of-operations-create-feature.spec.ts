import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CreateFeature, type CreateFeatureBody, CreateProject } from '@bunting/contracts';
import { aFeature } from '../../test/builders.ts';
import { lee, mia, callerWith, type StartedFeatures, startFeatures } from '../../test/started-features.ts';

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

it('replies with the created feature, and emits its event and state', async () => {
  const stored = await create({ name: 'banner', type: 'kill-switch', description: '', impressionData: true });
  expect(stored).toMatchObject({
    name: 'banner',
    type: 'kill-switch',
    description: null,
    project: 'shop',
    stale: false,
    impressionData: true,
    archived: false,
    archivedAt: null,
  });
  expect(await features.emittedEvents()).toMatchObject([
    { type: 'feature-created', project: 'shop', featureName: 'banner', environment: null, data: stored, preData: null },
  ]);
  expect(await features.states('feature')).toMatchObject([
    {
      id: 'banner',
      version: 1,
      state: {
        name: 'banner',
        project: 'shop',
        dependencyType: null,
        segments: [],
        favoritedBy: [],
        lifecycle: { stage: 'initial' },
        environments: [
          { name: 'development', enabled: false, hasStrategies: false },
          { name: 'production', enabled: false, hasStrategies: false },
        ],
      },
    },
  ]);
});

it('creates the new tags of a feature, with their events first', async () => {
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

it('refuses a feature with a tag of unknown type, and stores nothing', async () => {
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

describe('a name is refused', () => {
  it('that a feature of any project has, with a message that says whether that feature is archived', async () => {
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

  it('that a concurrent request takes', async () => {
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => create({ name: 'race' })));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected')
        expect(outcome.reason).toMatchObject({
          kind: 'NameExistsError',
          message: 'A flag with that name already exists',
        });
    }
    expect(await features.emittedEvents()).toHaveLength(1);
  });

  it('that is not URL-friendly', async () => {
    for (const name of ['', 'a b', 'a/b', '..', 'ä', 'x'.repeat(101)]) {
      await expect(create({ name })).rejects.toMatchObject({ kind: 'ValidationError', message: /`\/body\/name`/ });
    }
    await create({ name: 'x'.repeat(100) });
  });

  it('that does not match the pattern of the project, before limits are checked', async () => {
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

it('never exceeds the feature limit of a project under concurrent requests', async () => {
  await sql(`insert into project (id, name, feature_limit) values ('small', 'Small', 3)`);
  const outcomes = await Promise.allSettled(
    Array.from({ length: 12 }, (_, nth) => create({ name: `small-${nth}` }, 'small')),
  );
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
});

it('refuses to create a feature in an archived project', async () => {
  await sql(`insert into project (id, name, archived_at) values ('past', 'Past', now())`);
  for (const project of ['past', 'moon']) {
    await expect(create({ name: 'homeless' }, project)).rejects.toMatchObject({
      kind: 'NotFoundError',
      message: `Active project with id ${project} does not exist`,
    });
  }
});

it('creates a feature only with CREATE_FEATURE in the project', async () => {
  await create({ name: 'by-kim' }, 'shop', callerWith({ permission: 'CREATE_FEATURE', project: 'shop' }));
  for (const caller of [lee, callerWith({ permission: 'CREATE_FEATURE', project: 'default' })]) {
    await expect(create({ name: 'by-other' }, 'shop', caller)).rejects.toMatchObject({ kind: 'NoAccessError' });
  }
});

it('enforces FEATURES_MAX_FEATURES', async () => {
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
