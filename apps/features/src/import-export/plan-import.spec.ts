import { describe, expect, it } from 'vitest';
import { type ExportedFeatures, ImportFeaturesBody } from '@bunting/contracts';
import { parse } from '@bunting/contracts/validation';
import { aFeature, aStrategy, someProjectContext } from '../../test/builders.ts';
import { aDestination, anExport, constraint, faultsOf, planned, rollout, byName } from '../../test/imports.ts';
import { type Feature, inEnvironment } from '../features/feature.ts';
import type { ImportDestinationState } from './import-context.ts';
import { fileReferences } from './import-file.ts';
import type { ImportPlan } from './plan-import.ts';

const featureOf = (plan: ImportPlan, name = 'checkout'): Feature => {
  const found = plan.features.find(({ feature }) => feature.name === name);
  if (found === undefined) throw new Error(`The plan does not change ${name}.`);
  return found.feature;
};

/** The destination after an import, with everything that the plan brings. */
const after = (plan: ImportPlan, destination: ImportDestinationState): ImportDestinationState => ({
  ...destination,
  features: new Map([...destination.features, ...byName(plan.features.map(({ feature }) => feature))]),
  tagTypes: new Set([...destination.tagTypes, ...plan.tagTypes.map(({ name }) => name)]),
  tags: [...destination.tags, ...plan.tags],
  takenStrategyIds: new Set(
    plan.features.flatMap(({ feature }) =>
      Object.values(feature.environments).flatMap(({ strategies }) => strategies.map(({ id }) => id)),
    ),
  ),
  projectContext: {
    ...destination.projectContext,
    contextFields: new Map([
      ...destination.projectContext.contextFields,
      ...plan.contextFields.map((field) => [field.name, field] as const),
    ]),
  },
});

describe('an import', () => {
  it('creates features with all their settings', () => {
    const plan = planned(anExport());
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
      planned(anExport()).events.map(({ type, featureName }) => (featureName ? `${featureName}: ${type}` : type)),
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
    const destination = aDestination();
    const target = after(planned(anExport(), destination), destination);
    const again = planned(anExport(), target);
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
    const destination = aDestination({ takenStrategyIds: new Set(['5a0f8a4e-3f5e-4d2e-8f0e-0d6c3f1b2a10']) });
    const first = planned(anExport(), destination);
    expect(inEnvironment(featureOf(first), 'development').strategies.map(({ id }) => id)).toEqual([
      'made-1',
      '6b0f8a4e-3f5e-4d2e-8f0e-0d6c3f1b2a10',
    ]);
    expect(planned(anExport(), after(first, destination)).report.unchanged).toBe(2);
  });

  it.each<[string, (number | undefined)[], string[]]>([
    ['no sort orders', [undefined, undefined, undefined], ['a', 'b', 'c']],
    ['places', [9, 1, 4], ['b', 'c', 'a']],
    ['places for some only', [1, undefined, undefined], ['a', 'b', 'c']],
  ])('keeps strategies in their order when the file names %s', (_, places, expected) => {
    const featureStrategies = places.map((sortOrder, nth) => ({
      name: 'default',
      featureName: 'cart',
      title: 'abc'[nth] as string,
      ...(sortOrder === undefined ? {} : { sortOrder }),
    }));
    const file = anExport({ featureStrategies, dependencies: [] });
    const plan = planned(file);
    expect(inEnvironment(featureOf(plan, 'cart'), 'development').strategies.map(({ title }) => title)).toEqual(
      expected,
    );
    expect(planned(file, after(plan, aDestination())).features).toEqual([]);
  });

  it('of another environment adds to the same features', () => {
    const destination = after(planned(anExport()), aDestination());
    const plan = planned(anExport({ featureStrategies: [{ name: 'default', featureName: 'checkout' }] }), {
      ...destination,
      environment: 'production',
    });
    expect(plan.report).toMatchObject({ created: 0, updated: 1, unchanged: 1, strategies: 1, tags: 0 });
    const { environments } = featureOf(plan);
    expect(environments['development']).toEqual(featureOf(planned(anExport())).environments['development']);
    expect(environments['production']).toMatchObject({ enabled: true, strategies: [{ id: 'made-1' }] });
  });

  it.each(['mine', '5a0f8a4e3f5e4d2e8f0e0d6c3f1b2a10', '17', ''])(
    'gives a strategy a new id whose id in the file, "%s", is no UUID',
    (id) => {
      const plan = planned(anExport({ featureStrategies: [{ id, name: 'default', featureName: 'checkout' }] }));
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
    const plan = planned(anExport(), aDestination({ features: byName([target]) }));
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
    expect(planned(file, aDestination({ features: byName([target]) }))).toMatchObject({
      features: [],
      report: { unchanged: 1 },
    });
  });

  it('turns a feature off that is off in the file', () => {
    const target = aFeature({ name: 'cart', enabled: true, strategies: [aStrategy()] });
    const file = anExport({ featureStrategies: [{ name: 'default', featureName: 'cart' }], dependencies: [] });
    const plan = planned(file, aDestination({ features: byName([target]) }));
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
    const plan = planned(anExport({ contextFields, featureStrategies }));
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
      anExport({
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
    const plan = planned(anExport({ featureEnvironments }));
    expect(inEnvironment(featureOf(plan, 'cart'), 'development').variants.map(({ name }) => name)).toEqual(['a', 'b']);
  });

  it('skips features that are archived, in Bunting or in the file', () => {
    const features = [
      ...anExport().features.map((feature) => ({ ...feature, archived: feature.name === 'cart' })),
      { name: 'third' },
    ];
    const destination = aDestination({
      features: byName([aFeature({ name: 'checkout', project: 'garage', archivedAt: '2026-01-01T00:00:00.000Z' })]),
    });
    const plan = planned(anExport({ features, segments: [] }), destination);
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

describe('links in a file', () => {
  const linked = (...links: { url: string; title?: string; id?: string }[]) =>
    anExport({ links: [{ feature: 'checkout', links }] });
  const ticket = { id: 'kept', url: 'https://tickets.example/1', title: 'Mine' };

  it('are added where the feature lacks them, and the others stay', () => {
    const destination = aDestination({ features: byName([aFeature({ links: [ticket] })]) });
    const plan = planned(linked({ url: 'tickets.example/1', title: 'Theirs' }, { url: 'docs.example' }), destination);
    expect(featureOf(plan).links).toMatchObject([ticket, { url: 'https://docs.example/', title: null }]);
    expect(plan.events.filter(({ type }) => type === 'feature-link-added')).toMatchObject([
      { featureName: 'checkout', data: { url: 'https://docs.example/', title: null } },
    ]);
  });

  it('are refused with their place when they are unsafe or too many', () => {
    expect(faultsOf(linked({ url: 'https://docs.example' }, { url: 'javascript://x' }))).toEqual([
      [expect.stringContaining('http or https'), '/links/0/links/1/url'],
    ]);
    const many = Array.from({ length: 11 }, (_, nth) => ({ url: `https://docs.example/${nth}` }));
    expect(faultsOf(linked(...many))[0]?.[0]).toContain('Too many links (10)');
  });
});

describe('an import never widens a rollout', () => {
  it('a feature without strategies is not turned on, and the report says so', () => {
    const plan = planned(anExport({ featureStrategies: [] }));
    expect(inEnvironment(featureOf(plan), 'development')).toMatchObject({ enabled: false, strategies: [] });
    expect(plan.report.skipped).toEqual([{ feature: 'checkout', reason: expect.stringContaining('not enabled') }]);
  });

  it('a feature with disabled strategies only is not turned on, is turned off if it was on, and the report says so', () => {
    const featureStrategies = [{ name: 'default', featureName: 'checkout', disabled: true }];
    const wasOn = aDestination({ features: byName([aFeature({ enabled: true, strategies: [aStrategy()] })]) });
    for (const destination of [aDestination(), wasOn]) {
      const plan = planned(anExport({ featureStrategies }), destination);
      expect(inEnvironment(featureOf(plan), 'development').enabled).toBe(false);
      expect(plan.report.skipped).toEqual([{ feature: 'checkout', reason: expect.stringContaining('not enabled') }]);
    }
  });

  it('a missing rollout does not become 100 %', () => {
    const featureStrategies = [
      { name: 'flexibleRollout', featureName: 'checkout', parameters: { stickiness: 'default' } },
    ];
    const plan = planned(anExport({ featureStrategies }));
    expect(inEnvironment(featureOf(plan), 'development').strategies[0]?.parameters).toEqual({ stickiness: 'default' });
  });

  it('variants with complete weights keep weights and order, because both decide who gets which variant', () => {
    const variant = (name: string, weight: number) =>
      ({ name, weight, weightType: 'variable', stickiness: 'default' }) as const;
    const complete = [variant('control', 333), variant('blue', 333), variant('green', 334)];
    const incomplete = [variant('control', 10), variant('blue', 10), variant('green', 10)];
    const imported = (variants: typeof complete) =>
      inEnvironment(
        featureOf(planned(anExport({ featureStrategies: [{ name: 'default', featureName: 'checkout', variants }] }))),
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
    const destination = aDestination({ projectContext: someProjectContext() });
    expect(faultsOf(anExport(), destination)).toEqual([
      ['Segment "beta" does not exist; it is used by checkout', '/segments/0/name'],
    ]);
  });

  it('a segment that another project owns is refused', () => {
    const segments = new Map([[41, { id: 41, name: 'beta', project: 'garage' }]]);
    const [[message] = []] = faultsOf(anExport(), aDestination({ projectContext: someProjectContext({ segments }) }));
    expect(message).toBe('The segments beta with id 41 does not belong to project "shop"');
  });
});

it('the references of an import list everything to load', () => {
  expect(fileReferences(anExport())).toEqual({
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
  expect(() =>
    parse(ImportFeaturesBody, { project: 'shop', environment: 'development', data: anExport() }),
  ).not.toThrow();
});
