import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CreateFeature, CreateProject, GetFeature } from '@bunting/contracts';
import { gravatarUrlOf } from '@bunting/contracts/hashing';
import { aFeature, aUserReference, aStrategy } from '../../test/builders.ts';
import { lee, mia, type StartedFeatures, startFeatures } from '../../test/started-features.ts';

let features: StartedFeatures;
beforeAll(async () => {
  features = await startFeatures();
  for (const id of ['shop', 'garage']) await features.call(CreateProject, { body: { id, name: id } });
});
afterAll(() => features.stop());

const sql = (text: string, values: readonly unknown[] = []) =>
  features.database.transaction(({ query }) => query(text, values));

it('returns all documented fields of a new feature', async () => {
  await features.create('fresh', { description: 'What it does.', tags: [{ type: 'simple', value: 'new' }] });
  const { createdAt, lifecycle, ...feature } = await features.get('fresh');
  const mias = { id: 1, name: 'mia', imageUrl: gravatarUrlOf('mia') };
  const environment = (name: string, sortOrder: number) => ({
    name,
    environment: name,
    type: name,
    sortOrder,
    featureName: 'fresh',
    enabled: false,
    strategies: [],
    variantCount: 0,
    hasStrategies: false,
    hasEnabledStrategies: false,
    lastSeenAt: null,
    yes: 0,
    no: 0,
  });
  expect(feature).toEqual({
    name: 'fresh',
    type: 'release',
    description: 'What it does.',
    project: 'default',
    archived: false,
    enabled: false,
    stale: false,
    favorite: false,
    impressionData: false,
    createdBy: mias,
    lastSeenAt: null,
    tags: [{ type: 'simple', value: 'new' }],
    variants: [],
    strategies: [],
    children: [],
    dependencies: [],
    links: [],
    collaborators: { users: [mias] },
    environments: [environment('development', 2), environment('production', 3)],
  });
  expect(createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(lifecycle).toEqual({ stage: 'initial', enteredStageAt: createdAt });
});

it('returns strategies and environments in their order, and which are enabled', async () => {
  const [later, earlier] = [
    aStrategy({ id: 'b', sortOrder: 1, disabled: true, segments: [2, 1] }),
    aStrategy({ id: 'a' }),
  ];
  const variant = { name: 'blue', weight: 1000, weightType: 'variable', stickiness: 'default' } as const;
  await features.given(
    aFeature({
      name: 'busy',
      environments: {
        production: { enabled: false, strategies: [later], variants: [] },
        development: {
          enabled: true,
          strategies: [earlier, later],
          variants: [variant, { ...variant, name: 'amber' }],
        },
      },
      lifecycle: [
        { stage: 'initial', enteredStageAt: '2026-01-01T00:00:00.000Z' },
        { stage: 'completed', status: 'kept', enteredStageAt: '2026-01-02T00:00:00.000Z' },
        { stage: 'pre-live', enteredStageAt: '2026-01-03T00:00:00.000Z' },
      ],
      collaborators: [aUserReference(2, 'lee'), aUserReference(1, 'mia')],
    }),
  );
  const feature = await features.get('busy', mia, 'shop');
  expect(feature.enabled).toBe(true);
  expect(feature.environments).toMatchObject([
    { name: 'development', enabled: true, hasStrategies: true, hasEnabledStrategies: true, variantCount: 2 },
    { name: 'production', enabled: false, hasStrategies: true, hasEnabledStrategies: false, variantCount: 0 },
  ]);
  expect(feature.environments?.[0]?.strategies).toEqual([earlier, later]);
  expect(feature.environments?.[0]).not.toHaveProperty('variants');
  expect(feature.lifecycle).toMatchObject({ stage: 'completed', status: 'kept' });
  expect(feature.collaborators?.users.map(({ name, imageUrl }) => [name, imageUrl])).toEqual([
    ['lee', gravatarUrlOf('lee')],
    ['mia', gravatarUrlOf('mia')],
  ]);
});

it('shows its creator and collaborators by their names for display, with the pictures of their e-mail addresses', async () => {
  const zoe = { ...mia, id: 9, name: 'zoe@bunting.example', displayName: 'Zoë Berg' };
  await features.call(CreateFeature, { params: { projectId: 'default' }, body: { name: 'signed' } }, zoe);
  const shown = { id: 9, name: 'Zoë Berg', imageUrl: gravatarUrlOf('zoe@bunting.example') };
  const feature = await features.get('signed');
  expect(feature.createdBy).toEqual(shown);
  expect(feature.collaborators).toEqual({ users: [shown] });
  expect((await features.lastState('signed'))?.createdBy).toEqual(shown);
});

it('returns the variants of each environment if the query demands them', async () => {
  const params = { projectId: 'shop', featureName: 'busy' };
  const withVariants = await features.call(GetFeature, { params, query: { variantEnvironments: 'true' } });
  expect(withVariants.environments?.map(({ variants }) => variants?.map(({ name }) => name))).toEqual([
    ['amber', 'blue'],
    [],
  ]);
  const without = await features.call(GetFeature, { params, query: { variantEnvironments: 'yes' } });
  expect(without.environments?.[0]).not.toHaveProperty('variants');
});

it('returns the children and the dependencies of a feature', async () => {
  const dependencies = [{ feature: 'parent', enabled: true, variants: [] }];
  await features.given(
    aFeature({ name: 'parent' }),
    aFeature({ name: 'child-b', dependencies }),
    aFeature({ name: 'child-a', dependencies }),
    aFeature({ name: 'child-c', dependencies, archivedAt: '2026-01-02T00:00:00.000Z' }),
  );
  expect(await features.get('parent', mia, 'shop')).toMatchObject({
    children: ['child-a', 'child-b'],
    dependencies: [],
  });
  expect(await features.get('child-a', mia, 'shop')).toMatchObject({ children: [], dependencies });
});

it('returns whether a feature is a favourite of the caller', async () => {
  await features.create('loved');
  await sql('insert into feature_favorite (feature, user_id) values ($1, $2)', ['loved', lee.id]);
  expect((await features.get('loved', lee)).favorite).toBe(true);
  expect((await features.get('loved', mia)).favorite).toBe(false);
});

it('returns the counts of the last sixty minutes and the time of the last use', async () => {
  await features.create('counted');
  await sql(
    `with minute as (select floor(extract(epoch from now()) / 60)::integer as now)
    insert into feature_seen (feature, environment, last_seen_at, minutes, yes_by_minute, no_by_minute)
    select 'counted', 'development', '2026-01-01T10:30:00Z'::timestamptz, array[minute.now - 61, minute.now - 60], array[7, 7], array[8, 8] from minute
    union all select 'counted', 'production', now(), array[minute.now - 61, minute.now - 50, minute.now], array[9, 2, 3], array[9, 2, 4] from minute`,
  );
  const feature = await features.get('counted');
  expect(feature.environments).toMatchObject([
    { name: 'development', lastSeenAt: '2026-01-01T10:30:00.000Z', yes: 0, no: 0 },
    { name: 'production', yes: 5, no: 6 },
  ]);
  expect(feature.lastSeenAt).toBe(feature.environments?.[1]?.lastSeenAt);
});

describe('is not found', () => {
  const refusedWith = (message: string) => ({ kind: 'NotFoundError', message });

  it('does not find an unknown feature, or one of another project', async () => {
    await expect(features.get('unknown')).rejects.toMatchObject(
      refusedWith('There\'s no feature named "unknown" in project "default".'),
    );
    for (const project of ['garage', 'moon']) {
      await expect(features.get('busy', mia, project)).rejects.toMatchObject(
        refusedWith(
          `There's no feature named "busy" in project "${project}", but there's a feature with that name in project "shop"`,
        ),
      );
    }
  });

  it('does not find a feature by a name in another case', async () => {
    await expect(features.get('Fresh')).rejects.toMatchObject({ kind: 'NotFoundError' });
  });

  it('does not find an archived feature', async () => {
    await features.given(aFeature({ name: 'old', archivedAt: '2026-01-02T00:00:00.000Z' }));
    await expect(features.get('old', mia, 'shop')).rejects.toMatchObject(
      refusedWith('Could not find feature flag with name old'),
    );
  });
});
