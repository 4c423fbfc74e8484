import {
  CloneFeature,
  CreateFeature,
  type CreateFeatureBody,
  CreateProject,
  EnableFeature,
  GetFeature,
  type JsonPatch,
  ListFeatures,
  MoveFeature,
  newFeatureMetadata,
  PatchFeature,
  type RequestOf,
  SetProtection,
  SetStale,
  UpdateFeature,
  type UpdateFeatureBody,
  ValidateFeatureName,
} from '@bunting/contracts';
import { gravatarUrlOf } from '@bunting/contracts/hashing';
import { parse } from '@bunting/contracts/validation';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { aFeature, aStrategy, aUserReference, refusalOf } from '../../test/builders.ts';
import { callerWith, lee, mia, startFeatures, useFeatures } from '../../test/started-features.ts';

describe('creating a feature', () => {
  const features = useFeatures();
  beforeAll(async () => {
    await features.call(CreateProject, { body: { id: 'shop', name: 'shop' } });
  });
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
      {
        type: 'feature-created',
        project: 'shop',
        featureName: 'banner',
        environment: null,
        data: stored,
        preData: null,
      },
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
    expect(
      (await features.emittedEvents()).map(({ type, data }) => [type, (data as { value?: string }).value]),
    ).toEqual([
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
});

describe('cloning a feature', () => {
  const features = useFeatures();
  beforeAll(async () => {
    await features.call(CreateProject, { body: { id: 'shop', name: 'shop' } });
    await features.given(
      aFeature({ name: 'parent' }),
      aFeature({
        name: 'source',
        type: 'experiment',
        description: 'Pays',
        enabled: true,
        tags: [{ type: 'simple', value: 'a' }],
        dependencies: [{ feature: 'parent', enabled: true, variants: [] }],
        strategies: [
          aStrategy({ id: 'a', name: 'flexibleRollout', parameters: { rollout: '5', groupId: 'source' } }),
          aStrategy({ id: 'b', sortOrder: 1 }),
        ],
      }),
    );
  });
  beforeEach(() => features.clearOutbox());

  const clone = (name: string, more: object = {}, caller = mia, featureName = 'source') =>
    features.call(CloneFeature, { params: { projectId: 'shop', featureName }, body: { name, ...more } }, caller);
  const validate = (name: string, projectId: string | null = null) =>
    features.call(ValidateFeatureName, { body: { name, projectId } }, lee);

  it('clones a feature disabled and without tags, with all events', async () => {
    expect(await clone('copy')).toMatchObject({ name: 'copy', type: 'experiment', description: 'Pays' });
    const copy = await features.get('copy', mia, 'shop');
    expect(copy).toMatchObject({ enabled: false, tags: [], dependencies: [{ feature: 'parent' }] });
    const strategies = copy.environments?.[0]?.strategies ?? [];
    expect(strategies.map(({ parameters }) => parameters?.['groupId'])).toEqual(['copy', undefined]);
    expect(strategies.some(({ id }) => id === 'a' || id === 'b')).toBe(false);
    expect((await features.emittedEvents()).map(({ type, environment }) => [type, environment])).toEqual([
      ['feature-created', null],
      ['feature-strategy-add', 'development'],
      ['feature-strategy-add', 'development'],
      ['feature-dependency-added', null],
    ]);
    expect((await features.get('parent', mia, 'shop')).children).toEqual(['copy', 'source']);
  });

  it('refuses to clone an archived feature, whose segments may be deleted', async () => {
    await features.given(aFeature({ name: 'asleep', archivedAt: '2026-01-02T00:00:00.000Z' }));
    await expect(clone('awake', {}, mia, 'asleep')).rejects.toMatchObject({ kind: 'ArchivedFeatureError' });
  });

  it('keeps the groupId of cloned strategies if the request demands it', async () => {
    await clone('twin', { replaceGroupId: false });
    const [strategy] = (await features.get('twin', mia, 'shop')).environments?.[0]?.strategies ?? [];
    expect(strategy?.parameters).toMatchObject({ groupId: 'source' });
  });

  it('refuses to clone under an invalid or taken name, from an unknown feature, and without CREATE_FEATURE', async () => {
    await expect(clone('parent')).rejects.toMatchObject({ kind: 'NameExistsError' });
    await expect(clone('a b')).rejects.toMatchObject({ kind: 'ValidationError', message: /\/body\/name/ });
    await expect(clone('new', {}, mia, 'unknown')).rejects.toMatchObject({ kind: 'NotFoundError' });
    await expect(clone('new', {}, lee)).rejects.toMatchObject({ permissions: ['CREATE_FEATURE'] });
    expect(await features.emittedEvents()).toEqual([]);
  });

  it('refuses to clone strategies into a protected project without SKIP_CHANGE_REQUEST', async () => {
    const protect = (isProtected: boolean, version: number) =>
      features.call(SetProtection, { body: { project: 'shop', environment: 'production', isProtected, version } });
    await protect(true, 1);
    await expect(clone('sneaky', {}, callerWith({ permission: 'CREATE_FEATURE' }))).rejects.toMatchObject({
      kind: 'ForbiddenError',
      message: 'Cloning not allowed. Project shop has change requests enabled.',
    });
    await clone('allowed', {}, callerWith({ permission: 'CREATE_FEATURE' }, { permission: 'SKIP_CHANGE_REQUEST' }));
    await protect(false, 2);
  });

  it('validates a name for a feature', async () => {
    await features.call(CreateProject, { body: { id: 'strict', name: 'strict' } });
    await features.database.transaction(({ query }) =>
      query(`update project set feature_naming = '{"pattern": "s-[a-z]+"}' where id = 'strict'`),
    );
    await features.given(aFeature({ name: 'old', archivedAt: '2026-01-02T00:00:00.000Z' }));
    expect(await validate('free')).toBeNull();
    expect(await validate('free', 'moon')).toBeNull();
    expect(await validate('s-free', 'strict')).toBeNull();
    await expect(validate('free', 'strict')).rejects.toMatchObject({ kind: 'PatternError' });
    await expect(validate('a/b')).rejects.toMatchObject({ kind: 'ValidationError', message: /\/body\/name/ });
    await expect(validate('parent')).rejects.toMatchObject({ message: 'A flag with that name already exists' });
    await expect(validate('old')).rejects.toMatchObject({ message: 'An archived flag with that name already exists' });
  });
});

describe('reading a feature', () => {
  const features = useFeatures();
  beforeAll(async () => {
    for (const id of ['shop', 'garage']) await features.call(CreateProject, { body: { id, name: id } });
  });

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
      ...newFeatureMetadata,
      name: 'fresh',
      description: 'What it does.',
      project: 'default',
      archived: false,
      archivedAt: null,
      enabled: false,
      favorite: false,
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
});

describe('listing features', () => {
  type Query = RequestOf<typeof ListFeatures>['query'];

  const features = useFeatures();
  beforeAll(async () => {
    await features.call(CreateProject, { body: { id: 'shop', name: 'shop' } });
  });

  const list = async (projectId: string, caller = mia) =>
    features.call(ListFeatures, { params: { projectId } }, caller);

  it('lists the active features of a project by name, with all environments', async () => {
    for (const name of ['b', 'B', 'a']) await features.create(name, { tags: [{ type: 'simple', value: 'listed' }] });
    await features.given(
      aFeature({ name: 'c' }),
      aFeature({ name: 'd', project: 'default', archivedAt: '2026-01-02T00:00:00.000Z' }),
    );
    await features.call(EnableFeature, {
      params: { projectId: 'default', featureName: 'a', environment: 'production' },
    });
    const { version, features: listed } = await list('default');
    expect(version).toBe(2);
    expect(listed.map(({ name }) => name)).toEqual(['B', 'a', 'b']);
    expect(listed[1]).toMatchObject({
      type: 'release',
      project: 'default',
      stale: false,
      favorite: false,
      tags: [{ type: 'simple', value: 'listed' }],
      environments: [
        { name: 'development', enabled: false, hasStrategies: false },
        { name: 'production', enabled: true, hasStrategies: true, hasEnabledStrategies: true },
      ],
    });
    expect((await list('shop')).features.map(({ name }) => name)).toEqual(['c']);
  });

  it('marks the favourites of the caller in the list of features', async () => {
    await features.database.transaction(({ query }) =>
      query(`insert into feature_favorite (feature, user_id) values ('a', $1)`, [lee.id]),
    );
    const favorites = async (caller = mia) =>
      (await list('default', caller)).features.filter(({ favorite }) => favorite).map(({ name }) => name);
    expect(await favorites(lee)).toEqual(['a']);
    expect(await favorites(mia)).toEqual([]);
  });

  it('lists no features for an unknown project', async () => {
    expect(await list('moon')).toEqual({ version: 2, features: [] });
  });

  it('filters features by any of the tags and by prefix, ignoring case', async () => {
    const tagged = (name: string, ...values: string[]) =>
      aFeature({ name, project: 'tagged', tags: values.map((value) => ({ type: 'simple', value })) });
    await features.call(CreateProject, { body: { id: 'tagged', name: 'tagged' } });
    await features.given(
      tagged('one', 'red'),
      tagged('ONE-more', 'a:b', 'blue'),
      tagged('100%', 'blue'),
      tagged('two'),
    );
    const found = async (query: Query) =>
      (await features.call(ListFeatures, { params: { projectId: 'tagged' }, query })).features.map(({ name }) => name);

    expect(await found({ tag: ['simple:red'] })).toEqual(['one']);
    expect(await found({ tag: ['simple:red', 'simple:a:b'] })).toEqual(['ONE-more', 'one']);
    expect(await found({ tag: ['simple:Red', 'colour:red'] })).toEqual([]);
    expect(await found({ namePrefix: 'One' })).toEqual(['ONE-more', 'one']);
    expect(await found({ namePrefix: 'One', tag: ['simple:blue'] })).toEqual(['ONE-more']);
    expect(await found({ namePrefix: '%' })).toEqual([]);
    expect(await found({ namePrefix: '100%' })).toEqual(['100%']);
  });

  it('lists a page of the matching features of a project', async () => {
    await features.call(CreateProject, { body: { id: 'paged', name: 'paged' } });
    await features.given(...['a-1', 'a-2', 'a-3', 'b-1'].map((name) => aFeature({ name, project: 'paged' })));
    const found = async (query: Query) =>
      (await features.call(ListFeatures, { params: { projectId: 'paged' }, query })).features.map(({ name }) => name);

    expect(await found({ limit: 2 })).toEqual(['a-1', 'a-2']);
    expect(await found({ limit: 2, offset: 2 })).toEqual(['a-3', 'b-1']);
    expect(await found({ offset: 3 })).toEqual(['b-1']);
    expect(await found({ namePrefix: 'A', limit: 2, offset: 1 })).toEqual(['a-2', 'a-3']);
    expect(await found({ limit: 2, offset: 4 })).toEqual([]);
  });

  it.each<[Query, string]>([
    [{ tag: Array.from({ length: 51 }, () => 'simple:red') }, '/query/tag'],
    [{ namePrefix: 'x'.repeat(101) }, '/query/namePrefix'],
  ])('refuses %j and names %s', (query, path) => {
    const refusal = refusalOf(() => parse(ListFeatures.query, query, '/query', 'text'));
    expect(refusal).toMatchObject({ kind: 'ValidationError', details: [{ path }] });
  });

  it.each<[string[], string]>([
    [['simple:red', 'bad'], '/query/tag/1'],
    [[':red'], '/query/tag/0'],
    [['simple:'], '/query/tag/0'],
  ])('refuses the tags %j and names %s', async (tag, path) => {
    await expect(
      features.call(ListFeatures, { params: { projectId: 'default' }, query: { tag } }),
    ).rejects.toMatchObject({ kind: 'ValidationError', details: [{ path }] });
  });
});

describe('updating a feature', () => {
  const features = useFeatures();

  let featureName: string;
  let nth = 0;
  beforeEach(async () => {
    featureName = `feature-${(nth += 1)}`;
    await features.given(
      aFeature({
        name: featureName,
        project: 'default',
        description: 'Pays',
        type: 'experiment',
        impressionData: true,
      }),
    );
    await features.clearOutbox();
  });

  const put = (body: UpdateFeatureBody, caller = mia, projectId = 'default') =>
    features.call(UpdateFeature, { params: { projectId, featureName }, body }, caller);
  const patch = (body: JsonPatch, caller = mia, projectId = 'default') =>
    features.call(PatchFeature, { params: { projectId, featureName }, body }, caller);
  const types = async () => (await features.emittedEvents()).map(({ type }) => type);

  it('updates the given properties of a feature, keeps the others, and emits both contents', async () => {
    expect(await put({ name: featureName, description: 'Pays later', archived: true })).toMatchObject({
      name: featureName,
      description: 'Pays later',
      type: 'experiment',
      impressionData: true,
      archived: false,
    });
    expect(await features.get(featureName)).toMatchObject({ description: 'Pays later', type: 'experiment' });
    expect(await features.emittedEvents()).toMatchObject([
      {
        type: 'feature-metadata-updated',
        project: 'default',
        featureName,
        environment: null,
        preData: { description: 'Pays' },
        data: { description: 'Pays later' },
      },
    ]);
    await put({ stale: true });
    await put({ stale: true });
    expect(await types()).toEqual(['feature-metadata-updated', 'feature-metadata-updated']);
  });

  it('does not revive an archived feature by an update', async () => {
    await features.given(aFeature({ name: 'old', project: 'default', archivedAt: '2026-01-02T00:00:00.000Z' }));
    featureName = 'old';
    expect(await put({ archived: false, type: 'release' })).toMatchObject({ archived: true });
  });

  it('refuses to rename a feature, and finds it only in its own project', async () => {
    await expect(put({ name: 'other' })).rejects.toMatchObject({ kind: 'ValidationError', message: /\/body\/name/ });
    await expect(put({}, mia, 'moon')).rejects.toMatchObject({ kind: 'NotFoundError' });
    await expect(patch([], mia, 'moon')).rejects.toMatchObject({ kind: 'NotFoundError' });
    for (const write of [() => put({}, lee), () => patch([], lee)]) {
      await expect(write()).rejects.toMatchObject({ permissions: ['UPDATE_FEATURE'] });
    }
  });

  it('patches a feature, with the event of the stale mark last', async () => {
    const reply = await patch([
      { op: 'replace', path: '/stale', value: true },
      { op: 'remove', path: '/description' },
      { op: 'replace', path: '/name', value: 'other' },
      { op: 'replace', path: '/archived', value: true },
      { op: 'add', path: '/tags', value: [] },
    ]);
    expect(reply).toMatchObject({ name: featureName, stale: true, description: null, archived: false });
    expect(await types()).toEqual(['feature-metadata-updated', 'feature-stale-on']);
    await patch([{ op: 'replace', path: '/stale', value: true }]);
    await patch([{ op: 'replace', path: '/stale', value: false }]);
    expect((await types()).slice(2)).toEqual(['feature-metadata-updated', 'feature-stale-off']);
  });

  it.each<[object, JsonPatch]>([
    [{ kind: 'ValidationError', message: /\/type/ }, [{ op: 'replace', path: '/type', value: 'magic' }]],
    [{ kind: 'ValidationError', message: /\/stale/ }, [{ op: 'replace', path: '/stale', value: 'yes' }]],
    [{ kind: 'ValidationError' }, [{ op: 'replace', path: '/description/deep', value: 'x' }]],
    [{ kind: 'ValidationError' }, [{ op: 'add', path: '/__proto__/polluted', value: true }]],
    [{ kind: 'ValidationError' }, [{ op: 'add', path: '/constructor/polluted', value: true }]],
    [{ kind: 'OperationDeniedError' }, [{ op: 'replace', path: '/variants', value: [] }]],
  ])('refuses with %j the patch %j, and stores nothing', async (refused, body) => {
    await expect(patch(body)).rejects.toMatchObject(refused);
    expect(await features.emittedEvents()).toEqual([]);
  });

  it('keeps the edits of twenty concurrent writers of different members', async () => {
    await Promise.all([
      ...Array.from({ length: 18 }, (_, n) => patch([{ op: 'replace', path: '/description', value: `${n}` }])),
      patch([{ op: 'replace', path: '/type', value: 'kill-switch' }]),
      put({ impressionData: false }),
    ]);
    expect(await features.get(featureName)).toMatchObject({ type: 'kill-switch', impressionData: false });
  });
});

describe('marking features as stale', () => {
  const features = useFeatures();
  beforeAll(async () => {
    await features.call(CreateProject, { body: { id: 'shop', name: 'shop' } });
    const foreign = aFeature({ name: 'foreign', project: 'default' });
    await features.given(aFeature({ name: 'one' }), aFeature({ name: 'two', stale: true }), foreign);
  });
  beforeEach(() => features.clearOutbox());

  const mark = (names: string[], stale: boolean, caller = mia) =>
    features.call(SetStale, { params: { projectId: 'shop' }, body: { features: names, stale } }, caller);

  it('marks features as stale or not, with events for changes, and ignores unknown names', async () => {
    await mark(['one', 'two', 'unknown'], true);
    expect(await features.get('one', mia, 'shop')).toMatchObject({ stale: true });
    await mark(['one'], false);
    expect((await features.emittedEvents()).map(({ type, featureName }) => [type, featureName])).toEqual([
      ['feature-stale-on', 'one'],
      ['feature-stale-off', 'one'],
    ]);
  });

  it('marks all features as stale or none, only in the project and with the permission', async () => {
    await expect(mark(['one', 'foreign'], true)).rejects.toMatchObject({ kind: 'InvalidOperationError' });
    await expect(mark(['one'], true, lee)).rejects.toMatchObject({ permissions: ['UPDATE_FEATURE'] });
    expect(await features.emittedEvents()).toEqual([]);
  });
});

describe('moving a feature', () => {
  const features = useFeatures();
  beforeAll(async () => {
    for (const id of ['shop', 'garage']) await features.call(CreateProject, { body: { id, name: id } });
    await features.call(CreateProject, { body: { id: 'narrow', name: 'narrow', environments: ['production'] } });
    await features.given(
      aFeature({ name: 'free' }),
      aFeature({ name: 'parent' }),
      aFeature({ name: 'child', dependencies: [{ feature: 'parent', enabled: true, variants: [] }] }),
    );
  });
  beforeEach(() => features.clearOutbox());

  const move = (featureName: string, newProjectId: string, caller = mia, projectId = 'shop') =>
    features.call(MoveFeature, { params: { projectId, featureName }, body: { newProjectId } }, caller);

  it('refuses to move a feature into an unknown project or one with other environments, or with dependencies', async () => {
    await expect(move('free', 'moon')).rejects.toMatchObject({ kind: 'NotFoundError' });
    await expect(move('free', 'garage', mia, 'moon')).rejects.toMatchObject({ kind: 'NotFoundError' });
    await expect(move('free', 'narrow')).rejects.toMatchObject({ kind: 'IncompatibleProjectError' });
    for (const name of ['parent', 'child']) {
      await expect(move(name, 'garage')).rejects.toMatchObject({ kind: 'ForbiddenError' });
    }
    const here = callerWith({ permission: 'MOVE_FEATURE_TOGGLE', project: 'shop' });
    await expect(move('free', 'garage', here)).rejects.toMatchObject({ permissions: ['MOVE_FEATURE_TOGGLE'] });
    expect(await features.emittedEvents()).toEqual([]);
  });

  it('refuses to move strategies into a protected project without SKIP_CHANGE_REQUEST', async () => {
    const said = { project: 'garage', environment: 'production' };
    await features.call(SetProtection, { body: { ...said, isProtected: true, version: 1 } });
    await expect(move('free', 'garage', callerWith({ permission: 'MOVE_FEATURE_TOGGLE' }))).rejects.toMatchObject({
      kind: 'ForbiddenError',
      message: 'Changing project not allowed. Project garage has change requests enabled.',
    });
    await features.call(SetProtection, { body: { ...said, isProtected: false, version: 2 } });
  });

  it('refuses to move a feature out of a protected project without SKIP_CHANGE_REQUEST, and marks the event otherwise', async () => {
    const production = { environment: 'production' };
    await features.call(CreateProject, { body: { id: 'guarded', name: 'guarded' } });
    await features.given(aFeature({ name: 'reviewed', project: 'guarded' }));
    await features.call(SetProtection, {
      body: { project: 'guarded', ...production, isProtected: true, version: 3 },
    });
    await features.clearOutbox();
    const mover = callerWith({ permission: 'MOVE_FEATURE_TOGGLE' });
    await expect(move('reviewed', 'garage', mover, 'guarded')).rejects.toMatchObject({
      kind: 'ForbiddenError',
      message: 'Changing project not allowed. Project guarded has change requests enabled.',
    });
    expect((await features.get('reviewed', mia, 'guarded')).project).toBe('guarded');
    const skipper = callerWith(
      { permission: 'MOVE_FEATURE_TOGGLE' },
      { permission: 'SKIP_CHANGE_REQUEST', project: 'guarded', ...production },
    );
    await move('reviewed', 'garage', skipper, 'guarded');
    expect(await features.emittedEvents()).toMatchObject([
      {
        type: 'feature-project-change',
        project: 'garage',
        data: { oldProject: 'guarded', bypassedChangeRequest: true },
      },
    ]);
  });

  it('moves a feature to another project, with an event in the new one', async () => {
    await move('free', 'garage');
    await move('free', 'garage', mia, 'garage');
    expect(await features.emittedEvents()).toMatchObject([
      {
        type: 'feature-project-change',
        project: 'garage',
        featureName: 'free',
        data: { oldProject: 'shop', newProject: 'garage' },
      },
    ]);
    expect(await features.get('free', mia, 'garage')).toMatchObject({ project: 'garage' });
    expect((await features.lastState('free'))?.project).toBe('garage');
  });
});
