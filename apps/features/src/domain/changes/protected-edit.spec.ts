import { describe, expect, it } from '@jest/globals';
import { aFeature, aStrategy } from '../../../test/builders.ts';
import type { Feature } from '../features/feature.ts';
import { protectedAddition, protectedEdit, protectedRemoval, protectedSegmentEdits } from './protected-edit.ts';

const withProduction = (about: Partial<Feature['environments'][string]>, feature: Feature = aFeature()): Feature => ({
  ...feature,
  environments: {
    ...feature.environments,
    production: { enabled: false, strategies: [], variants: [], ...about },
  },
});
const variant = { name: 'blue', weight: 1000, weightType: 'variable', stickiness: 'default' } as const;
const parent = { feature: 'cart', enabled: true, variants: [] };
const archivedAt = '2026-01-02T00:00:00.000Z';

describe('an edit of a feature', () => {
  const feature = aFeature();
  it.each<[string, Feature]>([
    ['its switch', withProduction({ enabled: true })],
    ['its strategies', withProduction({ strategies: [aStrategy()] })],
    ['its variants', withProduction({ variants: [variant] })],
  ])('needs a change request in the environment in which %s changes', (_, after) => {
    expect(protectedEdit(feature, after)).toEqual({
      project: 'shop',
      environments: ['production'],
      allEnvironments: false,
    });
    expect(protectedEdit(after, feature).environments).toEqual(['production']);
  });

  it.each<[string, Partial<Feature>]>([
    ['it is archived', { archivedAt }],
    ['its dependencies change', { dependencies: [parent] }],
  ])('needs a change request if any environment is protected and %s', (_, change) => {
    expect(protectedEdit(feature, { ...feature, ...change })).toMatchObject({
      environments: [],
      allEnvironments: true,
    });
  });

  it.each<[string, Feature, Feature]>([
    ['its description', feature, aFeature({ description: 'pays' })],
    ['its tags', feature, aFeature({ tags: [{ type: 'simple', value: 'new' }] })],
    ['that it is archived, when it is revived', aFeature({ archivedAt }), feature],
    ['an empty environment that it did not list', feature, withProduction({})],
  ])('needs no change request for %s', (_, before, after) => {
    expect(protectedEdit(before, after)).toMatchObject({ environments: [], allEnvironments: false });
  });
});

describe('a new feature', () => {
  it('needs a change request in the environments in which it has settings', () => {
    expect(protectedAddition(withProduction({ strategies: [aStrategy()] }))).toMatchObject({
      environments: ['production'],
      allEnvironments: false,
    });
    expect(protectedAddition(aFeature({ dependencies: [parent] })).allEnvironments).toBe(true);
  });

  it('needs no change request without settings', () => {
    expect(protectedAddition(aFeature())).toMatchObject({ environments: [], allEnvironments: false });
  });
});

it('removing a feature needs a change request, as archiving does, unless it is archived', () => {
  expect(protectedRemoval(aFeature()).allEnvironments).toBe(true);
  expect(protectedRemoval(aFeature({ archivedAt })).allEnvironments).toBe(false);
});

it.each<[string, (string | null)[], string[]]>([
  ['its project', ['shop', 'shop'], ['shop']],
  ['both projects, when it moves between them', ['shop', 'bank'], ['shop', 'bank']],
  ['the project that it leaves, when it becomes global', ['shop', null], ['shop']],
  ['no project, when it is global', [null], []],
])('an edit of a segment affects all environments of %s', (_, projects, edited) => {
  expect(protectedSegmentEdits(projects)).toEqual(
    edited.map((project) => ({ project, environments: [], allEnvironments: true })),
  );
});
