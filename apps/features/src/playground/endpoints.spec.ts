import { implement, serve } from '@bunting/bus';
import {
  type Change,
  type Constraint,
  CreateContextField,
  CreateEnvironment,
  CreateProject,
  CreateSegment,
  DeleteEnvironment,
  EvaluateAdvancedPlayground,
  EvaluateImpact,
  EvaluatePlayground,
  EvaluatePlaygroundTable,
  type ImpactResult,
  ReadProposedChanges,
} from '@bunting/contracts';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { aFeature, aStrategy } from '../../test/builders.ts';
import { mia, useFeatures } from '../../test/started-features.ts';

describe('the playground', () => {
  const features = useFeatures();
  beforeAll(async () => {
    await features.call(CreateProject, { body: { id: 'shop', name: 'Shop' } });
  });
  beforeEach(() =>
    features.database.transaction(({ query }) => query('truncate feature, segment restart identity cascade')),
  );

  const inNorway: Constraint = { contextName: 'country', operator: 'IN', values: ['no'] };
  const ids = ['8c0f4d2e-0000-4000-8000-000000000001', '8c0f4d2e-0000-4000-8000-000000000002'] as const;
  const rollout = (percentage: number) => ({
    name: 'flexibleRollout',
    parameters: { rollout: String(percentage), stickiness: 'default', groupId: 'checkout' },
  });
  const evaluate = (context: Record<string, unknown>, more: object = {}) =>
    features.call(EvaluatePlayground, { body: { environment: 'development', context, ...more } });

  it('says of each feature whether it is on, and which constraint, segment and bucket decided it', async () => {
    await features.call(CreateContextField, { body: { name: 'plan' } });
    const { id: segment } = await features.call(CreateSegment, {
      body: { name: 'beta', constraints: [{ contextName: 'plan', operator: 'IN', values: ['pro'] }] },
    });
    const strategies = [
      aStrategy({ id: ids[0], constraints: [inNorway], segments: [segment] }),
      aStrategy({ id: ids[1], sortOrder: 1, title: 'Half', ...rollout(50) }),
    ];
    await features.given(
      aFeature({ enabled: true, strategies }),
      aFeature({ name: 'quiet', strategies: [aStrategy()] }),
    );

    const { features: evaluated } = await evaluate({ userId: '7', properties: { country: 'no', plan: 'free' } });
    expect(evaluated.map(({ name, isEnabledInCurrentEnvironment }) => [name, isEnabledInCurrentEnvironment])).toEqual([
      ['checkout', true],
      ['quiet', false],
    ]);
    const [checkout] = evaluated;
    const [first, second] = checkout?.strategies.data ?? [];
    expect(first).toMatchObject({
      id: ids[0],
      constraints: [{ ...inNorway, result: true }],
      segments: [{ id: segment, name: 'beta', result: false, constraints: [{ contextName: 'plan', result: false }] }],
      result: { evaluationStatus: 'complete', enabled: false },
    });
    const { bucket, percentage } = second?.result.rollout ?? {};
    expect(second).toMatchObject({
      title: 'Half',
      links: {
        edit: `/projects/shop/features/checkout/strategies/edit?environmentId=development&strategyId=${ids[1]}`,
      },
      result: { enabled: (bucket ?? 0) <= (percentage ?? 0), rollout: { percentage: 50, stickiness: 'default' } },
    });
    expect(checkout).toMatchObject({
      isEnabled: second?.result.enabled,
      strategies: { result: second?.result.enabled },
    });
  });

  it('shows the variants of the strategy that decides, and those of the feature where that has none', async () => {
    const variant = (name: string, weight: number) => ({
      name,
      weight,
      weightType: 'variable' as const,
      stickiness: 'default',
    });
    const [blue, red, own] = [variant('blue', 500), variant('red', 500), variant('own', 1000)];
    const nobody: Constraint = { contextName: 'userId', operator: 'IN', values: ['nobody'] };
    const inDevelopment = (...strategies: readonly ReturnType<typeof aStrategy>[]) => ({
      environments: { development: { enabled: true, strategies, variants: [own] } },
    });
    await features.given(
      aFeature(
        inDevelopment(
          aStrategy({ disabled: true, variants: [own] }),
          aStrategy({ id: ids[0], constraints: [nobody], variants: [own] }),
          aStrategy({ id: ids[1], variants: [blue, red] }),
        ),
      ),
      aFeature({ name: 'quiet', ...inDevelopment(aStrategy()) }),
    );
    const [checkout, quiet] = (await evaluate({ userId: '7' })).features;
    expect(checkout?.variants).toEqual([blue, red]);
    expect(checkout?.strategies.data.map(({ result }) => result.variants?.map(({ name }) => name))).toEqual([
      undefined,
      undefined,
      ['blue', 'red'],
    ]);
    expect(quiet).toMatchObject({ variants: [own], variant: { name: 'own' } });
  });

  it('evaluates only features of the given projects, and none of a project that is hidden from the caller', async () => {
    await features.given(aFeature(), aFeature({ name: 'other', project: 'default' }));
    const names = async (more: object, caller = mia) =>
      (
        await features.call(EvaluatePlayground, { body: { environment: 'development', context: {}, ...more } }, caller)
      ).features.map(({ name }) => name);
    for (const projects of ['*', [], undefined, ['*']])
      expect(await names(projects === undefined ? {} : { projects })).toEqual(['checkout', 'other']);
    expect(await names({ projects: ['shop'] })).toEqual(['checkout']);
    expect(await names({}, { ...mia, hiddenProjects: ['shop'] })).toEqual(['other']);
  });

  it('evaluates every combination of context values in every environment', async () => {
    await features.given(aFeature({ enabled: true, strategies: [aStrategy({ constraints: [inNorway] })] }));
    const body = {
      environments: ['development', 'production'],
      context: { userId: '1, 2', country: 'no,se', appName: 'shop', broken: { nested: true }, empty: null },
    };
    const { features: evaluated, warnings, input } = await features.call(EvaluateAdvancedPlayground, { body });
    expect(input).toEqual(body);
    expect(warnings).toEqual({ invalidContextProperties: ['broken', 'empty'] });
    expect(evaluated).toHaveLength(1);
    const { development = [], production = [] } = evaluated[0]?.environments ?? {};
    expect(development.map(({ context, isEnabled }) => [context['userId'], context['country'], isEnabled])).toEqual([
      ['1', 'no', true],
      ['1', 'se', false],
      ['2', 'no', true],
      ['2', 'se', false],
    ]);
    expect(production.map(({ isEnabled, environment }) => [isEnabled, environment])).toEqual(
      Array.from({ length: 4 }, () => [false, 'production']),
    );
  });

  it.each(['constructor', 'toString'])(
    'evaluates features in an environment called %s in which nothing was stored, like in any other',
    async (environment) => {
      await features.call(CreateEnvironment, { body: { name: environment, type: 'test' } });
      try {
        await features.given(aFeature({ enabled: true, strategies: [aStrategy()] }));
        const [evaluated] = (await evaluate({}, { environment })).features;
        expect(evaluated).toMatchObject({ name: 'checkout', isEnabled: false, isEnabledInCurrentEnvironment: false });
        const body = { environments: [environment], context: {} };
        const advanced = await features.call(EvaluateAdvancedPlayground, { body });
        expect(advanced.features.map(({ environments }) => Object.entries(environments))).toMatchObject([
          [[environment, [{ name: 'checkout', isEnabled: false }]]],
        ]);
      } finally {
        await features.call(DeleteEnvironment, { params: { name: environment } });
      }
    },
  );

  it.each([
    [
      'an unknown environment',
      { environments: ['moon'], context: {} },
      /^Could not find environment moon: see the `\/body\/environments` property\.$/,
    ],
    [
      'more combinations than the limit',
      {
        environments: ['development'],
        context: { a: '1,'.repeat(20_000) + '2', b: Array.from({ length: 20_000 }, (_, n) => n).join() },
      },
      /at most 15000 evaluations .*context: see the `\/body` property\.$/,
    ],
  ])('refuses %s', async (_, body, message) => {
    await expect(features.call(EvaluateAdvancedPlayground, { body })).rejects.toThrow(message);
  });

  it('refuses more features than the limit allows, and reads no more of them', async () => {
    await features.given(...Array.from({ length: 16 }, (_, nth) => aFeature({ name: `flag-${nth}` })));
    const context = { userId: Array.from({ length: 1_000 }, (_, id) => id).join() };
    const body = { environments: ['development'], context };
    await expect(features.call(EvaluateAdvancedPlayground, { body })).rejects.toThrow(/at most 15000 evaluations/);
    const within = await features.call(EvaluateAdvancedPlayground, {
      body: { ...body, projects: ['default'] },
    });
    expect(within.features).toEqual([]);
  });

  it('refuses an advanced evaluation that would repeat large strategies for many contexts', async () => {
    const values = Array.from({ length: 250 }, (_, nth) => `${nth}-${'v'.repeat(90)}`);
    const constraints = Array.from({ length: 30 }, () => ({ contextName: 'userId', operator: 'IN' as const, values }));
    await features.given(aFeature({ name: 'heavy', strategies: [aStrategy({ constraints })] }));
    const evaluate = (users: number) => {
      const userId = Array.from({ length: users }, (_, nth) => `user-${nth}`).join(',');
      const body = { environments: ['development'], features: ['heavy'], context: { appName: 'shop', userId } };
      return features.call(EvaluateAdvancedPlayground, { body });
    };
    expect((await evaluate(2)).features).toHaveLength(1);
    await expect(evaluate(100)).rejects.toThrow(/too large to be shown for each context/);
  });
});

describe('the table of the playground', () => {
  /** The changes of every change request. */
  let proposed: readonly Change[] = [];
  const features = useFeatures();
  beforeAll(async () => {
    const changes = implement(ReadProposedChanges, async () => ({
      project: 'shop',
      environment: 'development',
      changes: proposed.map((change, id) => ({ id, change, snapshot: null })),
    }));
    await serve(features.bus, [changes]);
    await features.call(CreateProject, { body: { id: 'shop', name: 'Shop' } });
  });
  beforeEach(() =>
    features.database.transaction(({ query }) => query('truncate feature, segment restart identity cascade')),
  );

  const inNorway: Constraint = { contextName: 'country', operator: 'IN', values: ['no'] };
  const on = { enabled: true, strategies: [aStrategy()] };
  const table = (more: object = {}, caller = mia) =>
    features.call(
      EvaluatePlaygroundTable,
      { body: { environments: ['development'], contexts: [{ country: 'no,se' }, { userId: '7' }], ...more } },
      caller,
    );
  const namesOf = ({ features: found }: Awaited<ReturnType<typeof table>>) => found.map(({ name }) => name);
  const cell = (isEnabled: boolean) => ({ isEnabled, variant: null, isUnknown: false });

  it('shows each flag of a page by environment, for every combination of values of each context', async () => {
    await features.given(
      aFeature({ enabled: true, strategies: [aStrategy({ constraints: [inNorway] })] }),
      aFeature({ enabled: true, strategies: [aStrategy({ name: 'ourOwn' })], name: 'own' }),
    );
    const found = await table({ contexts: [{ country: 'no,se' }, { userId: '7', broken: {} }] });
    expect(found).toEqual({
      contexts: [{ country: 'no' }, { country: 'se' }, { userId: '7' }],
      features: [
        {
          name: 'checkout',
          projectId: 'shop',
          environments: { development: [cell(true), cell(false), cell(false)] },
        },
        {
          name: 'own',
          projectId: 'shop',
          environments: { development: Array.from({ length: 3 }, () => ({ ...cell(false), isUnknown: true })) },
        },
      ],
      total: 2,
      next: null,
      warnings: { invalidContextProperties: ['broken'] },
    });
  });

  it('shows flags page by page, by project, name and text, with the result of flags that they depend on', async () => {
    const dependencies = [{ feature: 'parent', enabled: true, variants: [] }];
    await features.given(
      ...['Alpha', 'beta', 'gamma'].map((name) => aFeature({ ...on, name, dependencies })),
      aFeature({ name: 'parent' }),
      aFeature({ ...on, name: 'other', project: 'default' }),
    );
    const first = await table({ projects: ['shop'], limit: 2 });
    expect([namesOf(first), first.total]).toEqual([['Alpha', 'beta'], 4]);
    expect(first.features[0]?.environments['development']?.[0]).toEqual(cell(false));
    const second = await table({ projects: ['shop'], limit: 2, after: first.next ?? '' });
    expect([namesOf(second), second.next]).toEqual([['gamma', 'parent'], null]);
    expect(namesOf(await table({ query: 'ALPH' }))).toEqual(['Alpha']);
    expect(namesOf(await table({ features: ['beta', 'no such flag'] }))).toEqual(['beta']);
    expect(namesOf(await table({ features: ['beta', 'other'] }, { ...mia, hiddenProjects: ['shop'] }))).toEqual([
      'other',
    ]);
  });

  it('shortens pages that would take too many evaluations, and refuses more contexts than one flag can have', async () => {
    await features.given(...Array.from({ length: 4 }, (_, nth) => aFeature({ name: `flag-${nth}` })));
    const userId = Array.from({ length: 5_000 }, (_, id) => id).join();
    const found = await table({ contexts: [{ userId }] });
    expect([namesOf(found), found.next, found.total]).toEqual([['flag-0', 'flag-1', 'flag-2'], 'flag-2', 4]);
    await expect(table({ contexts: Array.from({ length: 4 }, () => ({ userId })) })).rejects.toThrow(
      /at most 15000 evaluations/,
    );
    await expect(table({ environments: ['moon'] })).rejects.toThrow(/Could not find environment/);
  });

  it('shows what a change request would change, in flags that it changes, that use its segment, or depend on them', async () => {
    await features.call(CreateContextField, { body: { name: 'country' } });
    const { id: segment } = await features.call(CreateSegment, {
      body: { name: 'north', project: 'shop', constraints: [inNorway] },
    });
    const dependencies = [{ feature: 'parent', enabled: true, variants: [] }];
    await features.given(
      aFeature({ ...on, name: 'child', dependencies }),
      aFeature({ name: 'parent', strategies: [aStrategy()] }),
      aFeature({ enabled: true, name: 'segmented', strategies: [aStrategy({ segments: [segment] })] }),
      aFeature({ ...on, name: 'leaving' }),
      aFeature({ ...on, name: 'same' }),
    );
    proposed = [
      { feature: 'parent', action: 'updateEnabled', payload: { enabled: true } },
      { feature: 'leaving', action: 'archiveFeature', payload: {} },
      {
        action: 'updateSegment',
        payload: { id: segment, name: 'north', project: 'shop', constraints: [{ ...inNorway, values: ['se'] }] },
      },
    ] as readonly Change[];
    const differences = async (more: object = {}) => {
      const found = await table({ changeRequest: 1, contexts: [{ country: 'no,se' }], ...more });
      return found.features.map(({ name, environments }) => [
        name,
        ...(environments['development'] ?? []).map(
          ({ isEnabled, proposed: after }) => `${isEnabled}${after === undefined ? '' : ` → ${after.isEnabled}`}`,
        ),
      ]);
    };
    const changing = [
      ['child', 'false → true', 'false → true'],
      ['leaving', 'true → false', 'true → false'],
      ['parent', 'false → true', 'false → true'],
    ];
    const segmented = ['segmented', 'true → false', 'false → true'];
    expect(await differences()).toEqual([...changing, ['same', 'true', 'true'], segmented]);
    expect(await differences({ onlyConcerned: true })).toEqual([...changing, segmented]);
  });

  it('says why one flag is on or off, with the flags that it depends on', async () => {
    const dependencies = [{ feature: 'parent', enabled: true, variants: ['blue'] }];
    await features.given(
      aFeature({ ...on, name: 'child', dependencies }),
      aFeature({ ...on, name: 'parent' }),
      aFeature(),
    );
    const body = { environments: ['development'], features: ['child'], context: {} };
    const { features: found } = await features.call(EvaluateAdvancedPlayground, { body });
    expect(found).toMatchObject([
      {
        name: 'child',
        environments: {
          development: [{ isEnabled: false, dependencies: [{ feature: 'parent', variants: ['blue'], result: false }] }],
        },
      },
    ]);
  });
});

describe('the impact of changes', () => {
  const features = useFeatures();
  beforeAll(async () => {
    await features.call(CreateProject, { body: { id: 'shop', name: 'Shop' } });
  });
  beforeEach(() =>
    features.database.transaction(({ query }) => query('truncate feature, segment restart identity cascade')),
  );

  const id = '8c0f4d2e-0000-4000-8000-000000000001';
  const rollout = (percentage: number, more: object = {}) => ({
    name: 'flexibleRollout',
    parameters: { rollout: String(percentage), stickiness: 'default', groupId: 'checkout' },
    ...more,
  });
  const inNorway: Constraint = { contextName: 'country', operator: 'IN', values: ['no'] };

  const computeImpactOnUsers = (changes: unknown, more: object = {}, caller = mia): Promise<ImpactResult> =>
    features.call(
      EvaluateImpact,
      { body: { project: 'default', environment: 'development', changes, ...more } },
      caller,
    );
  const update = (payload: object, feature = 'checkout') => ({
    action: 'updateStrategy',
    feature,
    payload: { id, ...payload },
  });

  describe('the impact of changes on users', () => {
    it('is the share of users that gain and lose the feature, by the values that constraints compare', async () => {
      const strategies = [aStrategy({ id, ...rollout(20), constraints: [inNorway] })];
      await features.given(aFeature({ project: 'default', enabled: true, strategies }));
      const { users, features: found } = await computeImpactOnUsers(update(rollout(50, { constraints: [inNorway] })));
      expect(users).toBe(1_000);
      const [checkout] = found;
      expect(checkout).toMatchObject({ name: 'checkout', isComplete: true });
      const [others, norway] = checkout?.groups ?? [];
      expect(others).toEqual({ context: {}, before: 0, after: 0, gains: 0, loses: 0, changesVariant: 0 });
      expect(norway).toMatchObject({ context: { country: 'no' }, loses: 0 });
      // A rollout only adds users as its percentage grows.
      expect(norway?.gains).toBeCloseTo((norway?.after ?? 0) - (norway?.before ?? 0), 5);
      expect(Math.abs((norway?.before ?? 0) - 20)).toBeLessThan(5);
      expect(Math.abs((norway?.after ?? 0) - 50)).toBeLessThan(5);
    });

    it('evaluates example users before and after, with their variants', async () => {
      const variant = (name: string) => [{ name, weight: 1000, weightType: 'variable', stickiness: 'default' }];
      const strategies = [
        aStrategy({ id, ...rollout(100), constraints: [inNorway], variants: variant('blue') as never }),
      ];
      await features.given(aFeature({ project: 'default', enabled: true, strategies }));
      const { features: found } = await computeImpactOnUsers(
        update(rollout(100, { constraints: [inNorway], variants: variant('red') })),
        { contexts: [{ userId: '7', properties: { country: 'no' } }, { country: 'se' }] },
      );
      expect(found[0]?.examples).toEqual([
        { before: { isEnabled: true, variant: 'blue' }, after: { isEnabled: true, variant: 'red' } },
        { before: { isEnabled: false, variant: 'disabled' }, after: { isEnabled: false, variant: 'disabled' } },
      ]);
      expect(found[0]?.groups[1]).toMatchObject({ changesVariant: 100, gains: 0, loses: 0 });
    });

    it('covers a segment that a change refers to for the first time, and every user of a segment that changes', async () => {
      await features.call(CreateContextField, { body: { name: 'plan' } });
      const { id: segment } = await features.call(CreateSegment, {
        body: {
          name: 'beta',
          project: 'default',
          constraints: [{ contextName: 'plan', operator: 'IN', values: ['pro'] }],
        },
      });
      await features.given(
        aFeature({ project: 'default', enabled: true, strategies: [aStrategy({ id, ...rollout(100) })] }),
      );
      const narrowed = await computeImpactOnUsers(update(rollout(100, { segments: [segment] })));
      expect(narrowed.features[0]?.groups).toMatchObject([
        { context: {}, before: 100, after: 0, loses: 100 },
        { context: { plan: 'pro' }, before: 100, after: 100 },
      ]);
      await features.given(
        aFeature({
          name: 'user-of-beta',
          project: 'default',
          enabled: true,
          strategies: [aStrategy({ ...rollout(100), segments: [segment] })],
        }),
      );
      const payload = { id: segment, constraints: [{ contextName: 'plan', operator: 'IN', values: ['free'] }] };
      const { features: found } = await computeImpactOnUsers({ action: 'updateSegment', payload });
      expect(found.map(({ name }) => name)).toEqual(['user-of-beta']);
      expect(found[0]?.groups).toMatchObject([
        { context: {}, gains: 0, loses: 0 },
        { context: { plan: 'pro' }, loses: 100 },
        { context: { plan: 'free' }, gains: 100 },
      ]);
    });

    it('covers the features that depend on changed ones, with what these do to them', async () => {
      await features.given(
        aFeature({ project: 'default', enabled: true, strategies: [aStrategy({ ...rollout(100), id })] }),
      );
      await features.given(
        aFeature({
          name: 'child',
          project: 'default',
          enabled: true,
          dependencies: [{ feature: 'checkout', enabled: true, variants: [] }],
          strategies: [aStrategy({ ...rollout(100) })],
        }),
      );
      const inShop: Constraint = { contextName: 'appName', operator: 'IN', values: ['shop'] };
      const { features: found } = await computeImpactOnUsers(update(rollout(100, { constraints: [inShop] })));
      expect(found).toMatchObject([
        { name: 'checkout', groups: [{ context: {}, loses: 100 }, {}] },
        { name: 'child', dependsOn: ['checkout'], groups: [{ context: {}, loses: 100 }, {}] },
      ]);
    });

    it('finds a dependent however many features of hidden projects, and of its own, sort before it', async () => {
      const dependencies = [{ feature: 'checkout', enabled: true, variants: [] }];
      const given = { enabled: true, dependencies, strategies: [aStrategy({ ...rollout(100) })] };
      await features.given(
        aFeature({ project: 'default', enabled: true, strategies: [aStrategy({ ...rollout(100), id })] }),
        ...Array.from({ length: 25 }, (_, nth) => aFeature({ ...given, name: `a-hidden-${nth}`, project: 'shop' })),
        ...Array.from({ length: 3 }, (_, nth) => aFeature({ ...given, name: `b-changed-${nth}`, project: 'default' })),
        ...Array.from({ length: 16 }, (_, nth) =>
          aFeature({ ...given, name: `child-${nth + 10}`, project: 'default' }),
        ),
      );
      const changed = ['b-changed-0', 'b-changed-1', 'b-changed-2'];
      const off = changed.map((feature) => ({ action: 'updateEnabled', feature, payload: { enabled: false } }));
      const changes = [update(rollout(50)), ...off];
      const { features: found } = await computeImpactOnUsers(changes, {}, { ...mia, hiddenProjects: ['shop'] });
      const children = Array.from({ length: 16 }, (_, nth) => `child-${nth + 10}`);
      expect(found.map(({ name }) => name)).toEqual([...changed, 'checkout', ...children]);
    });

    it('says which of the example users each constraint matches by itself, with changes or without', async () => {
      const strategies = [aStrategy({ id, ...rollout(0) })];
      await features.given(aFeature({ project: 'default', enabled: false, strategies }));
      const more = {
        contexts: [{ country: 'no', properties: { version: '1.10.0' } }, { country: 'se', version: '1.9.0' }, {}],
        constraints: [
          inNorway,
          { ...inNorway, inverted: true },
          { contextName: 'version', operator: 'SEMVER_GT', value: '1.9.0' },
          { contextName: 'environment', operator: 'STR_STARTS_WITH', values: ['dev'] },
        ],
      };
      const matches = [
        [true, false, false],
        [false, true, true],
        [true, false, false],
        [true, true, true],
      ].map((ofUsers) => ({ matches: ofUsers }));
      expect(await computeImpactOnUsers(undefined, more)).toMatchObject({ features: [], constraints: matches });
      const changed = await computeImpactOnUsers(update(rollout(100)), more);
      expect(changed).toMatchObject({ features: [{ name: 'checkout' }], constraints: matches });
      expect(await computeImpactOnUsers(update(rollout(100)))).not.toHaveProperty('constraints');
    });

    it.each([
      ['a change that is none', { action: 'explode', feature: 'checkout' }, {}, /action/],
      ['no changes', [], {}, /changes|items/],
      ['neither changes nor constraints', undefined, {}, /property is required/],
      ['an unknown environment', update({}), { environment: 'moon' }, /Could not find environment/],
      ['an unknown project', update({}), { project: 'moon' }, /Could not find project/],
      [
        'changes that could not be applied',
        { action: 'deleteStrategy', feature: 'nothing', payload: { id } },
        {},
        /could not be applied/,
      ],
    ])('refuses %s', async (_, changes, more, message) => {
      await expect(computeImpactOnUsers(changes, more)).rejects.toThrow(message);
    });

    it('refuses a project that is hidden from the caller as an unknown one', async () => {
      await features.given(aFeature({ project: 'shop', enabled: true, strategies: [aStrategy({ id })] }));
      const request = computeImpactOnUsers(update({}), { project: 'shop' }, { ...mia, hiddenProjects: ['shop'] });
      await expect(request).rejects.toThrow('Could not find project with id shop');
    });
  });
});
