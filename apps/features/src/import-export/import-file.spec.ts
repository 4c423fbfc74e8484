import { type ExportedFeatures, maxLegalValues } from '@bunting/contracts';
import { describe, expect, it } from 'vitest';
import { aFeature, refusalOf } from '../../test/builders.ts';
import { aDestination, anExport, byName, faultsOf, planned } from '../../test/imports.ts';
import type { Feature } from '../features/feature.ts';
import { featuresExported, requireExportFilter } from './import-file.ts';

describe('an import is refused whole', () => {
  it('with every missing object, each once', () => {
    const strategy = (featureName: string) => ({
      name: 'mine',
      featureName,
      segments: [6, 7],
      constraints: [{ contextName: 'planet', operator: 'IN' as const, values: ['mars'] }],
    });
    const file = anExport({
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
    ['a feature twice', { features: [...anExport().features, { name: 'cart' }] }, '/features/2/name'],
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
      { dependencies: [...(anExport().dependencies ?? []), ...(anExport().dependencies ?? [])] },
      '/dependencies/1',
    ],
    ['a name that no feature can have', { features: [...anExport().features, { name: 'a b' }] }, '/features/2/name'],
    [
      'an unknown type of feature',
      { features: [...anExport().features, { name: 'third', type: 'no-such-type' }] },
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
    [
      'a context field with an empty legal value',
      { contextFields: [{ name: 'city', legalValues: [{ value: '' }] }] },
      '/contextFields/0/legalValues/0/value',
    ],
    [
      'a context field with more legal values than a request may set',
      {
        contextFields: [
          {
            name: 'city',
            legalValues: Array.from({ length: maxLegalValues + 1 }, (_, index) => ({ value: `${index}` })),
          },
        ],
      },
      '/contextFields/0/legalValues',
    ],
    [
      'a context field with a longer description of a legal value than a request may set',
      { contextFields: [{ name: 'city', legalValues: [{ value: 'a', description: 'x'.repeat(251) }] }] },
      '/contextFields/0/legalValues/0/description',
    ],
    [
      'a context field with a longer description than a request may set',
      { contextFields: [{ name: 'city', description: 'x'.repeat(251) }] },
      '/contextFields/0/description',
    ],
    [
      'a tag type with a longer colour than a request may set',
      { tagTypes: [...anExport().tagTypes, { name: 'team', color: 'x'.repeat(51) }] },
      '/tagTypes/1/color',
    ],
    ['a tag type with a bad name', { tagTypes: [...anExport().tagTypes, { name: 'a b' }] }, '/tagTypes/1/name'],
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
      'a parent that has a parent',
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
    expect(faultsOf(anExport(about))[0]?.[1]).toBe(path);
  });

  it('with a feature of another project', () => {
    const destination = aDestination({ features: byName([aFeature({ name: 'cart', project: 'garage' })]) });
    expect(faultsOf(anExport(), destination)).toContainEqual([
      'The feature "cart" exists in project "garage"',
      '/features/1/name',
    ]);
  });

  it('with an environment that the project does not have', () => {
    expect(faultsOf(anExport(), aDestination({ environment: 'moon' }))).toEqual([
      ['Could not find environment moon for project: shop', '/body/environment'],
    ]);
  });

  it('with new names that do not match the pattern of the project', () => {
    const destination = aDestination({
      naming: { pattern: 'shop\\..*' },
      features: byName([aFeature({ name: 'cart' })]),
    });
    expect(faultsOf(anExport(), destination).map(([, path]) => path)).toEqual(['/features/0/name']);
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
    expect(faultsOf(anExport({ dependencies }), aDestination({ features: byName([parent]) }))).toHaveLength(1);
  });

  it('with a parent for a feature that has children in Bunting', () => {
    const destination = aDestination({ features: byName([aFeature()]), children: new Map([['checkout', ['child']]]) });
    expect(faultsOf(anExport(), destination)).toHaveLength(1);
  });

  it('with a limited number of reported errors', () => {
    const features = Array.from({ length: 3000 }, (_, nth) => ({ name: `a ${nth}` }));
    const { details } = refusalOf(() => planned({ features, featureStrategies: [], tagTypes: [] }));
    expect(details).toHaveLength(501);
    expect(details.at(-1)?.message).toBe('There are 2500 more faults.');
  });

  it('with names such as constructor treated as ordinary names', () => {
    const features = ['constructor', 'toString'].map((name) => ({ name }));
    const plan = planned({ features, featureStrategies: [{ name: 'default', featureName: 'toString' }], tagTypes: [] });
    expect(plan.features.map(({ feature }) => feature.name)).toEqual(['constructor', 'toString']);
    expect(
      faultsOf(anExport({ featureStrategies: [{ name: 'valueOf', featureName: 'hasOwnProperty' }] })),
    ).toHaveLength(1);
  });
});

const environment = 'production';

describe('an export', () => {
  it.each([{ features: ['checkout'] }, { features: [] }, { tag: 'pay' }, { project: 'shop' }])(
    'says by %j which features',
    (filter) => {
      expect(() => requireExportFilter({ environment, ...filter })).not.toThrow();
    },
  );

  it('is refused if it does not say which features', () => {
    expect(refusalOf(() => requireExportFilter({ environment })).details).toMatchObject([{ path: '/body/features' }]);
  });

  it('emits the names of the features, without their content', () => {
    expect(featuresExported({ environment, project: 'shop' }, ['cart', 'checkout'])).toEqual({
      type: 'features-exported',
      data: { environment, tag: null, project: 'shop', features: ['cart', 'checkout'] },
    });
  });
});
