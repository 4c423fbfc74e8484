import { type Constraint, type ExportedFeatures, ImportFeaturesBody } from '@bunting/contracts';
import { parse } from '@bunting/contracts/validation';
import { describe, expect, it } from '@jest/globals';
import { aFeature, aStrategy, someProjectContext } from '../../../test/builders.ts';
import { refusalOf } from '../../../test/refusal-of.ts';
import type { Feature } from '../features/feature.ts';
import { inEnvironment } from '../strategies/strategy.ts';
import { type ImportDestination, type ImportPlan, fileReferences, planImport } from './index.ts';

const constraint: Constraint = {
  contextName: 'appName',
  operator: 'SEMVER_GT',
  value: '4.8.19',
  values: [],
  inverted: false,
  caseInsensitive: false,
};
const rollout = { rollout: '50', stickiness: 'default', groupId: 'checkout' };

/** A file with two features; a test says what else is in it. */
const aFile = (about: Partial<ExportedFeatures> = {}): ExportedFeatures => ({
  features: [
    {
      name: 'checkout',
      description: 'Pays',
      type: 'experiment',
      project: 'elsewhere',
      stale: true,
      impressionData: true,
      archived: false,
    },
    {
      name: 'cart',
      description: '',
      type: 'release',
      project: 'elsewhere',
      stale: false,
      impressionData: false,
      archived: false,
    },
  ],
  featureStrategies: [
    {
      id: '5a0f8a4e-3f5e-4d2e-8f0e-0d6c3f1b2a10',
      name: 'flexibleRollout',
      featureName: 'checkout',
      title: 'Half',
      parameters: rollout,
      constraints: [constraint],
      variants: [
        { name: 'a', weight: 500, weightType: 'variable', stickiness: 'default' },
        { name: 'b', weight: 500, weightType: 'variable', stickiness: 'default' },
      ],
      disabled: false,
      segments: [6],
    },
    { id: '6b0f8a4e-3f5e-4d2e-8f0e-0d6c3f1b2a10', name: 'default', featureName: 'checkout', disabled: true },
  ],
  featureEnvironments: [
    { enabled: true, featureName: 'checkout', environment: 'staging', variants: [], name: 'checkout' },
    { enabled: false, featureName: 'cart', environment: 'staging', variants: [], name: 'cart' },
  ],
  contextFields: [{ name: 'appName', description: '', stickiness: false, sortOrder: 2, legalValues: [] }],
  featureTags: [
    { featureName: 'checkout', tagType: 'risk', tagValue: 'high' },
    { featureName: 'cart', tagType: 'risk', tagValue: 'high' },
  ],
  segments: [{ id: 6, name: 'beta' }],
  tagTypes: [{ name: 'risk', description: 'How bad', icon: null, color: '#FFFFFF' }],
  dependencies: [{ feature: 'checkout', dependencies: [{ feature: 'cart', enabled: true, variants: [] }] }],
  ...about,
});

/** A place that has the segment `beta`, under an id of its own; a test says what else. */
const aPlace = (about: Partial<ImportDestination> = {}): ImportDestination => ({
  project: 'shop',
  environment: 'development',
  projectContext: someProjectContext({ segments: new Map([[41, { id: 41, name: 'beta', project: null }]]) }),
  features: new Map(),
  children: new Map(),
  tagTypes: new Set(['simple']),
  tags: [],
  takenStrategyIds: new Set(),
  ...about,
});

const importer = () => {
  let made = 0;
  return {
    now: '2026-11-21T10:00:00.000Z',
    by: { id: 7, name: 'lee' },
    newStrategyId: () => `made-${++made}`,
    maySee: () => true,
  };
};
const planned = (file: ExportedFeatures, place: ImportDestination = aPlace()): ImportPlan =>
  planImport(file, place, importer());
const byName = (features: readonly Feature[]) => new Map(features.map((feature) => [feature.name, feature]));
const featureOf = (plan: ImportPlan, name = 'checkout'): Feature => {
  const found = plan.features.find(({ feature }) => feature.name === name);
  if (found === undefined) throw new Error(`The plan does not change ${name}.`);
  return found.feature;
};
const faultsOf = (file: ExportedFeatures, place: ImportDestination = aPlace()) => {
  const refusal = refusalOf(() => planned(file, place));
  expect(refusal.kind).toBe('ValidationError');
  return refusal.details.map(({ message, path }) => [
    message.replace(/: see the `.*$/, ''),
    path?.replace('/body/data', ''),
  ]);
};

/** The place after an import, with everything that the plan brings. */
const after = (plan: ImportPlan, place: ImportDestination): ImportDestination => ({
  ...place,
  features: new Map([...place.features, ...byName(plan.features.map(({ feature }) => feature))]),
  tagTypes: new Set([...place.tagTypes, ...plan.tagTypes.map(({ name }) => name)]),
  tags: [...place.tags, ...plan.tags],
  takenStrategyIds: new Set(
    plan.features.flatMap(({ feature }) =>
      Object.values(feature.environments).flatMap(({ strategies }) => strategies.map(({ id }) => id)),
    ),
  ),
  projectContext: {
    ...place.projectContext,
    contextFields: new Map([
      ...place.projectContext.contextFields,
      ...plan.contextFields.map((field) => [field.name, field] as const),
    ]),
  },
});

describe('an import', () => {
  it('creates features with all their settings', () => {
    const plan = planned(aFile());
    expect(featureOf(plan)).toMatchObject({
      project: 'shop',
      type: 'experiment',
      description: 'Pays',
      stale: true,
      impressionData: true,
      createdBy: { id: 7, name: 'lee' },
      tags: [{ type: 'risk', value: 'high' }],
      dependencies: [{ feature: 'cart', enabled: true, variants: [] }],
      lifecycle: [{ stage: 'initial' }],
    });
    expect(inEnvironment(featureOf(plan), 'development')).toEqual({
      enabled: true,
      variants: [],
      strategies: [
        {
          id: '5a0f8a4e-3f5e-4d2e-8f0e-0d6c3f1b2a10',
          name: 'flexibleRollout',
          title: 'Half',
          disabled: false,
          sortOrder: 0,
          parameters: rollout,
          constraints: [constraint],
          variants: [
            { name: 'a', weight: 500, weightType: 'variable', stickiness: 'default' },
            { name: 'b', weight: 500, weightType: 'variable', stickiness: 'default' },
          ],
          segments: [41],
        },
        aStrategy({ id: '6b0f8a4e-3f5e-4d2e-8f0e-0d6c3f1b2a10', disabled: true, sortOrder: 1 }),
      ],
    });
    expect(Object.keys(featureOf(plan).environments)).toEqual(['development']);
    expect(featureOf(plan, 'cart').description).toBeNull();
    expect(plan.tagTypes).toEqual([{ name: 'risk', description: 'How bad', icon: null, color: '#FFFFFF' }]);
    expect(plan.tags).toEqual([{ type: 'risk', value: 'high' }]);
    expect(plan.report).toEqual({
      created: 2,
      updated: 0,
      unchanged: 0,
      strategies: 2,
      tags: 2,
      tagTypes: 1,
      contextFields: 0,
      dependencies: 1,
      skipped: [],
    });
  });

  it('emits each edit, and the import last', () => {
    expect(
      planned(aFile()).events.map(({ type, featureName }) => (featureName ? `${featureName}: ${type}` : type)),
    ).toEqual([
      'tag-type-created',
      'tag-created',
      'checkout: feature-created',
      'checkout: feature-tagged',
      'checkout: feature-strategy-add',
      'checkout: feature-strategy-add',
      'checkout: feature-environment-enabled',
      'checkout: feature-dependency-added',
      'cart: feature-created',
      'cart: feature-tagged',
      'features-imported',
    ]);
  });

  it('changes and emits nothing the second time', () => {
    const place = aPlace();
    const target = after(planned(aFile(), place), place);
    const again = planned(aFile(), target);
    expect(again).toMatchObject({ features: [], tags: [], tagTypes: [], contextFields: [], events: [] });
    expect(again.report).toMatchObject({
      created: 0,
      updated: 0,
      unchanged: 2,
      strategies: 0,
      tags: 0,
      dependencies: 0,
    });
  });

  it('changes nothing the second time when the ids of its strategies are in use', () => {
    const place = aPlace({ takenStrategyIds: new Set(['5a0f8a4e-3f5e-4d2e-8f0e-0d6c3f1b2a10']) });
    const first = planned(aFile(), place);
    expect(inEnvironment(featureOf(first), 'development').strategies.map(({ id }) => id)).toEqual([
      'made-1',
      '6b0f8a4e-3f5e-4d2e-8f0e-0d6c3f1b2a10',
    ]);
    expect(planned(aFile(), after(first, place)).report.unchanged).toBe(2);
  });

  it.each<[string, (number | undefined)[], string[]]>([
    ['no place', [undefined, undefined, undefined], ['a', 'b', 'c']],
    ['places', [9, 1, 4], ['b', 'c', 'a']],
    ['places for some only', [1, undefined, undefined], ['a', 'b', 'c']],
  ])('keeps strategies in their order when the file names %s', (_, places, expected) => {
    const featureStrategies = places.map((sortOrder, nth) => ({
      name: 'default',
      featureName: 'cart',
      title: 'abc'[nth] as string,
      ...(sortOrder === undefined ? {} : { sortOrder }),
    }));
    const file = aFile({ featureStrategies, dependencies: [] });
    const plan = planned(file);
    expect(inEnvironment(featureOf(plan, 'cart'), 'development').strategies.map(({ title }) => title)).toEqual(
      expected,
    );
    expect(planned(file, after(plan, aPlace())).features).toEqual([]);
  });

  it('of another environment adds to the same features', () => {
    const place = after(planned(aFile()), aPlace());
    const plan = planned(aFile({ featureStrategies: [{ name: 'default', featureName: 'checkout' }] }), {
      ...place,
      environment: 'production',
    });
    expect(plan.report).toMatchObject({ created: 0, updated: 1, unchanged: 1, strategies: 1, tags: 0 });
    const { environments } = featureOf(plan);
    expect(environments['development']).toEqual(featureOf(planned(aFile())).environments['development']);
    expect(environments['production']).toMatchObject({ enabled: true, strategies: [{ id: 'made-1' }] });
  });

  it.each(['mine', '5a0f8a4e3f5e4d2e8f0e0d6c3f1b2a10', '17', ''])(
    'gives a strategy a new id whose id in the file, "%s", is no UUID',
    (id) => {
      const plan = planned(aFile({ featureStrategies: [{ id, name: 'default', featureName: 'checkout' }] }));
      expect(inEnvironment(featureOf(plan), 'development').strategies).toMatchObject([{ id: 'made-1' }]);
    },
  );

  it('overwrites existing settings', () => {
    const dependencies = [{ feature: 'earlier', enabled: true, variants: [] }];
    const target = aFeature({
      name: 'checkout',
      description: 'Old',
      tags: [{ type: 'simple', value: 'mine' }],
      dependencies,
      strategies: [aStrategy({ id: 'mine' })],
    });
    const plan = planned(aFile(), aPlace({ features: byName([target]) }));
    expect(plan.report).toMatchObject({ created: 1, updated: 1 });
    expect(featureOf(plan)).toMatchObject({
      description: 'Pays',
      tags: [{ value: 'high' }, { value: 'mine' }],
      createdBy: target.createdBy,
    });
    const events = plan.events.filter(({ featureName }) => featureName === 'checkout');
    expect(events.map(({ type }) => type)).toEqual([
      'feature-metadata-updated',
      'feature-tagged',
      'feature-strategy-remove',
      'feature-strategy-add',
      'feature-strategy-add',
      'feature-environment-enabled',
      'feature-dependency-removed',
      'feature-dependency-added',
    ]);
    expect(events[0]).toMatchObject({
      preData: { description: 'Old', stale: false },
      data: { description: 'Pays', stale: true },
    });
  });

  it('keeps settings that the file does not mention', () => {
    const target = aFeature({
      name: 'cart',
      description: 'Old',
      type: 'permission',
      stale: true,
      enabled: true,
      strategies: [aStrategy()],
      dependencies: [{ feature: 'x', enabled: true, variants: [] }],
    });
    const file: ExportedFeatures = { features: [{ name: 'cart' }], featureStrategies: [], tagTypes: [] };
    expect(planned(file, aPlace({ features: byName([target]) }))).toMatchObject({
      features: [],
      report: { unchanged: 1 },
    });
  });

  it('turns a feature off that is off in the file', () => {
    const target = aFeature({ name: 'cart', enabled: true, strategies: [aStrategy()] });
    const file = aFile({ featureStrategies: [{ name: 'default', featureName: 'cart' }], dependencies: [] });
    const plan = planned(file, aPlace({ features: byName([target]) }));
    expect(inEnvironment(featureOf(plan, 'cart'), 'development').enabled).toBe(false);
    expect(plan.events.filter(({ type }) => type === 'feature-environment-disabled')).toHaveLength(1);
  });

  it('creates missing context fields', () => {
    const legalValues = [
      { value: 'oslo', description: null },
      { value: 'bergen', description: 'Rain' },
    ];
    const contextFields = [{ name: 'city', description: 'Where', stickiness: true, sortOrder: 9, legalValues }];
    const featureStrategies = [
      {
        name: 'default',
        featureName: 'cart',
        constraints: [{ contextName: 'city', operator: 'IN' as const, values: ['oslo'] }],
      },
    ];
    const plan = planned(aFile({ contextFields, featureStrategies }));
    expect(plan.contextFields).toEqual([
      {
        name: 'city',
        description: 'Where',
        stickiness: true,
        sortOrder: 9,
        legalValues: [{ value: 'oslo' }, { value: 'bergen', description: 'Rain' }],
      },
    ]);
    expect(plan.events[0]).toEqual({ type: 'context-field-created', data: plan.contextFields[0] });
    const errors = faultsOf(
      aFile({
        contextFields,
        featureStrategies: [
          {
            ...featureStrategies[0],
            name: 'default',
            featureName: 'cart',
            constraints: [{ contextName: 'city', operator: 'IN', values: ['paris'] }],
          },
        ],
      }),
    );
    expect(errors).toEqual([
      [
        'input values are not specified as a legal value on this context field',
        '/featureStrategies/0/constraints/0/values',
      ],
    ]);
  });

  it('imports the variants of the environment', () => {
    const variants = [
      { name: 'b', weight: 10 },
      { name: 'a', weight: 10 },
    ];
    const featureEnvironments = [{ featureName: 'cart', enabled: false, variants }];
    const plan = planned(aFile({ featureEnvironments }));
    expect(inEnvironment(featureOf(plan, 'cart'), 'development').variants.map(({ name }) => name)).toEqual(['a', 'b']);
  });

  it('skips features that are archived, in Bunting or in the file', () => {
    const features = [
      ...aFile().features.map((feature) => ({ ...feature, archived: feature.name === 'cart' })),
      { name: 'third' },
    ];
    const place = aPlace({
      features: byName([aFeature({ name: 'checkout', project: 'garage', archivedAt: '2026-01-01T00:00:00.000Z' })]),
    });
    const plan = planned(aFile({ features, segments: [] }), place);
    expect(plan.features.map(({ feature }) => feature.name)).toEqual(['third']);
    expect(plan.report).toMatchObject({
      created: 1,
      tags: 0,
      skipped: [
        { feature: 'checkout', reason: 'An archived feature has that name.' },
        { feature: 'cart', reason: 'It is archived in the file.' },
      ],
    });
  });
});

describe('an import never widens a rollout', () => {
  it('a feature without strategies is not turned on, and the report says so', () => {
    const plan = planned(aFile({ featureStrategies: [] }));
    expect(inEnvironment(featureOf(plan), 'development')).toMatchObject({ enabled: false, strategies: [] });
    expect(plan.report.skipped).toEqual([{ feature: 'checkout', reason: expect.stringContaining('not enabled') }]);
  });

  it('a missing rollout does not become 100 %', () => {
    const featureStrategies = [
      { name: 'flexibleRollout', featureName: 'checkout', parameters: { stickiness: 'default' } },
    ];
    const plan = planned(aFile({ featureStrategies }));
    expect(inEnvironment(featureOf(plan), 'development').strategies[0]?.parameters).toEqual({ stickiness: 'default' });
  });

  it('variants with complete weights keep weights and order, because both decide who gets which variant', () => {
    const variant = (name: string, weight: number) =>
      ({ name, weight, weightType: 'variable', stickiness: 'default' }) as const;
    const complete = [variant('control', 333), variant('blue', 333), variant('green', 334)];
    const incomplete = [variant('control', 10), variant('blue', 10), variant('green', 10)];
    const imported = (variants: typeof complete) =>
      inEnvironment(
        featureOf(planned(aFile({ featureStrategies: [{ name: 'default', featureName: 'checkout', variants }] }))),
        'development',
      ).strategies[0]?.variants;
    expect(imported(complete)).toEqual(complete);
    expect(imported(incomplete)).toEqual([variant('blue', 333), variant('control', 334), variant('green', 333)]);
  });

  it('every parent is kept', () => {
    const features = [{ name: 'a' }, { name: 'b' }, { name: 'c' }];
    const parents = [{ feature: 'a' }, { feature: 'b', enabled: false, variants: ['x'] }];
    const plan = planned({
      features,
      featureStrategies: [],
      tagTypes: [],
      dependencies: [{ feature: 'c', dependencies: parents }],
    });
    expect(featureOf(plan, 'c').dependencies).toEqual([
      { feature: 'a', enabled: true, variants: [] },
      { feature: 'b', enabled: false, variants: [] },
    ]);
  });

  it('a missing segment is reported, and the whole file is refused', () => {
    const place = aPlace({ projectContext: someProjectContext() });
    expect(faultsOf(aFile(), place)).toEqual([
      ['Segment "beta" does not exist; it is used by checkout', '/segments/0/name'],
    ]);
  });

  it('a segment that another project owns is refused', () => {
    const segments = new Map([[41, { id: 41, name: 'beta', project: 'garage' }]]);
    const [[message] = []] = faultsOf(aFile(), aPlace({ projectContext: someProjectContext({ segments }) }));
    expect(message).toBe('The segments beta with id 41 does not belong to project "shop"');
  });
});

describe('an import is refused whole', () => {
  it('with every missing object, each once', () => {
    const strategy = (featureName: string) => ({
      name: 'mine',
      featureName,
      segments: [6, 7],
      constraints: [{ contextName: 'planet', operator: 'IN' as const, values: ['mars'] }],
    });
    const file = aFile({
      featureStrategies: [strategy('checkout'), strategy('cart')],
      segments: [
        { id: 6, name: 'beta' },
        { id: 7, name: 'gamma' },
      ],
      tagTypes: [],
      dependencies: [{ feature: 'checkout', dependencies: [{ feature: 'nowhere' }] }],
    });
    expect(faultsOf(file).toSorted()).toEqual([
      ['Active feature "nowhere" does not exist; it is used by checkout', '/dependencies/0/dependencies/0/feature'],
      [
        'Context field "planet" does not exist; it is used by checkout and 1 more',
        '/featureStrategies/0/constraints/0/contextName',
      ],
      ['Segment "gamma" does not exist; it is used by checkout and 1 more', '/segments/1/name'],
      ['Strategy type "mine" does not exist; it is used by checkout and 1 more', '/featureStrategies/0/name'],
      ['Tag type "risk" does not exist; it is used by checkout and 1 more', '/featureTags/0/tagType'],
    ]);
  });

  it.each<[string, Partial<ExportedFeatures>, string]>([
    [
      'a strategy of a feature that it lacks',
      { featureStrategies: [{ name: 'default', featureName: 'lost' }] },
      '/featureStrategies/0/featureName',
    ],
    [
      'a tag of a feature that it lacks',
      { featureTags: [{ featureName: 'lost', tagType: 'risk', tagValue: 'high' }] },
      '/featureTags/0/featureName',
    ],
    [
      'a switch of a feature that it lacks',
      { featureEnvironments: [{ featureName: 'lost', enabled: true }] },
      '/featureEnvironments/0/featureName',
    ],
    [
      'a dependency of a feature that it lacks',
      { dependencies: [{ feature: 'lost', dependencies: [] }] },
      '/dependencies/0/feature',
    ],
    ['a segment without its name', { segments: [] }, '/featureStrategies/0/segments/0'],
    ['a feature twice', { features: [...aFile().features, { name: 'cart' }] }, '/features/2/name'],
    [
      'two environments',
      {
        featureEnvironments: [
          { featureName: 'cart', environment: 'a', enabled: true },
          { featureName: 'cart', environment: 'b', enabled: true },
        ],
      },
      '/featureEnvironments/1',
    ],
    [
      'one id for two segments',
      {
        segments: [
          { id: 6, name: 'beta' },
          { id: 6, name: 'gamma' },
        ],
      },
      '/segments/1',
    ],
    [
      'two dependencies of a feature',
      { dependencies: [...(aFile().dependencies ?? []), ...(aFile().dependencies ?? [])] },
      '/dependencies/1',
    ],
    ['a name that no feature can have', { features: [...aFile().features, { name: 'a b' }] }, '/features/2/name'],
    [
      'an unknown type of feature',
      { features: [...aFile().features, { name: 'third', type: 'no-such-type' }] },
      '/features/2/type',
    ],
    [
      'a bad constraint',
      {
        featureStrategies: [
          {
            name: 'default',
            featureName: 'cart',
            constraints: [{ contextName: 'appName', operator: 'NUM_EQ', value: 'x' }],
          },
        ],
      },
      '/featureStrategies/0/constraints/0/value',
    ],
    [
      'bad variants',
      {
        featureStrategies: [
          {
            name: 'default',
            featureName: 'cart',
            variants: [{ name: 'a', weight: 1000, weightType: 'fix', stickiness: 'default' }],
          },
        ],
      },
      '/featureStrategies/0/variants',
    ],
    [
      'bad variants of an environment',
      { featureEnvironments: [{ featureName: 'cart', enabled: false, variants: [{ name: 'a b', weight: 1 }] }] },
      '/featureEnvironments/0/variants/0/name',
    ],
    [
      '31 strategies',
      { featureStrategies: Array.from({ length: 31 }, () => ({ name: 'default', featureName: 'cart' })) },
      '/featureStrategies/30',
    ],
    [
      'six segments',
      { featureStrategies: [{ name: 'default', featureName: 'cart', segments: [6, 6, 6, 6, 6, 6] }] },
      '/featureStrategies/0/segments',
    ],
    ['a context field with a bad name', { contextFields: [{ name: 'a b' }] }, '/contextFields/0/name'],
    [
      'a context field with a legal value twice',
      { contextFields: [{ name: 'city', legalValues: [{ value: 'a' }, { value: 'a' }] }] },
      '/contextFields/0/legalValues/1/value',
    ],
    ['a tag type with a bad name', { tagTypes: [...aFile().tagTypes, { name: 'a b' }] }, '/tagTypes/1/name'],
    [
      'a feature that depends on itself',
      { dependencies: [{ feature: 'cart', dependencies: [{ feature: 'cart' }] }] },
      '/dependencies/0/dependencies/0/feature',
    ],
    [
      'a parent twice',
      { dependencies: [{ feature: 'checkout', dependencies: [{ feature: 'cart' }, { feature: 'cart' }] }] },
      '/dependencies/0/dependencies/1/feature',
    ],
    [
      'families of three generations',
      {
        features: [{ name: 'checkout' }, { name: 'cart' }, { name: 'third' }],
        dependencies: [
          { feature: 'checkout', dependencies: [{ feature: 'cart' }] },
          { feature: 'cart', dependencies: [{ feature: 'third' }] },
        ],
      },
      '/dependencies/0/dependencies/0/feature',
    ],
  ])('with %s', (_, about, path) => {
    expect(faultsOf(aFile(about))[0]?.[1]).toBe(path);
  });

  it('with a feature of another project', () => {
    const place = aPlace({ features: byName([aFeature({ name: 'cart', project: 'garage' })]) });
    expect(faultsOf(aFile(), place)).toContainEqual([
      'The feature "cart" exists in project "garage"',
      '/features/1/name',
    ]);
  });

  it('with an environment that the project does not have', () => {
    expect(faultsOf(aFile(), aPlace({ environment: 'moon' }))).toEqual([
      ['Could not find environment moon for project: shop', '/body/environment'],
    ]);
  });

  it('with new names that do not match the pattern of the project', () => {
    const place = aPlace({ naming: { pattern: 'shop\\..*' }, features: byName([aFeature({ name: 'cart' })]) });
    expect(faultsOf(aFile(), place).map(([, path]) => path)).toEqual(['/features/0/name']);
  });

  it.each<[string, Feature]>([
    ['is archived', aFeature({ name: 'parent', archivedAt: '2026-01-01T00:00:00.000Z' })],
    ['is of another project', aFeature({ name: 'parent', project: 'garage' })],
    [
      'has a parent itself',
      aFeature({ name: 'parent', dependencies: [{ feature: 'x', enabled: true, variants: [] }] }),
    ],
  ])('with a parent that %s', (_, parent) => {
    const dependencies = [{ feature: 'checkout', dependencies: [{ feature: 'parent' }] }];
    expect(faultsOf(aFile({ dependencies }), aPlace({ features: byName([parent]) }))).toHaveLength(1);
  });

  it('with a parent for a feature that has children in Bunting', () => {
    const place = aPlace({ features: byName([aFeature()]), children: new Map([['checkout', ['child']]]) });
    expect(faultsOf(aFile(), place)).toHaveLength(1);
  });

  it('with a limited number of reported errors', () => {
    const features = Array.from({ length: 3000 }, (_, nth) => ({ name: `a ${nth}` }));
    const { details } = refusalOf(() => planned({ features, featureStrategies: [], tagTypes: [] }));
    expect(details).toHaveLength(501);
    expect(details.at(-1)?.message).toBe('There are 2500 more faults.');
  });

  it('with names such as constructor treated as ordinary names', () => {
    const features = ['constructor', 'toString', '__proto__'].map((name) => ({ name }));
    const plan = planned({ features, featureStrategies: [{ name: 'default', featureName: 'toString' }], tagTypes: [] });
    expect(plan.features.map(({ feature }) => feature.name)).toEqual(['constructor', 'toString', '__proto__']);
    expect(faultsOf(aFile({ featureStrategies: [{ name: 'valueOf', featureName: 'hasOwnProperty' }] }))).toHaveLength(
      1,
    );
  });
});

it('the references of an import list everything to load', () => {
  expect(fileReferences(aFile())).toEqual({
    features: ['checkout', 'cart'],
    segments: ['beta'],
    contextFields: ['appName'],
    tags: [
      { type: 'risk', value: 'high' },
      { type: 'risk', value: 'high' },
    ],
    strategyIds: ['5a0f8a4e-3f5e-4d2e-8f0e-0d6c3f1b2a10', '6b0f8a4e-3f5e-4d2e-8f0e-0d6c3f1b2a10'],
  });
});

it('the test files are valid exports', () => {
  expect(() => parse(ImportFeaturesBody, { project: 'shop', environment: 'development', data: aFile() })).not.toThrow();
});
