import { describe, expect, it } from 'vitest';
import { aFeature, refusalOf } from '../../test/builders.ts';
import { type DependencyContext, normalizeDependency, removeDependencies, setParent } from './dependency.ts';
import type { Feature } from '../features/feature.ts';

const on = (feature: string) => normalizeDependency(feature);
const parent = aFeature({ name: 'parent' });
const added = (child: Feature, context: Partial<DependencyContext> = {}, name = 'parent') =>
  setParent(child, on(name), { parent, children: [], ...context });

describe('a dependency', () => {
  it('requires an enabled parent by default', () => {
    expect(normalizeDependency('parent')).toEqual({ feature: 'parent', enabled: true, variants: [] });
    expect(normalizeDependency('parent', true, ['a', 'b', 'a']).variants).toEqual(['a', 'b']);
    expect(normalizeDependency('parent', false, ['a'])).toEqual({ feature: 'parent', enabled: false, variants: [] });
  });

  it('emits its parent', () => {
    const { feature, events } = added(aFeature());
    expect(feature.dependencies).toEqual([on('parent')]);
    expect(events).toEqual([
      { type: 'feature-dependency-added', project: 'shop', featureName: 'checkout', tags: [], data: on('parent') },
    ]);
  });

  it('replaces the previous dependency', () => {
    const { feature, events } = added(aFeature({ dependencies: [on('earlier')] }));
    expect(feature.dependencies).toEqual([on('parent')]);
    expect(events.map(({ type, data }) => [type, data])).toEqual([
      ['feature-dependency-removed', { feature: 'earlier' }],
      ['feature-dependency-added', on('parent')],
    ]);
  });

  it('on the same parent under another condition emits only an addition', () => {
    const child = aFeature({ dependencies: [normalizeDependency('parent', false)] });
    expect(added(child).events.map(({ type }) => type)).toEqual(['feature-dependency-added']);
  });

  it('that already exists with its variants in another order emits nothing', () => {
    const child = aFeature({ dependencies: [normalizeDependency('parent', true, ['a', 'b'])] });
    const again = normalizeDependency('parent', true, ['b', 'a']);
    const context = { parent: aFeature({ name: 'parent' }), children: [] };
    expect(setParent(child, again, context)).toEqual({ feature: child, events: [] });
  });

  it('that already exists emits nothing', () => {
    const child = aFeature({ dependencies: [on('parent')] });
    expect(added(child)).toEqual({ feature: child, events: [] });
  });

  it.each<[string, Partial<DependencyContext>, string, string]>([
    ['on itself', {}, 'checkout', 'A feature flag cannot depend on itself.'],
    [
      'of a feature with children',
      { children: ['child'] },
      'parent',
      'Transitive dependency detected. Cannot add a dependency to the feature that other features depend on.',
    ],
    [
      'on a feature with a parent',
      { parent: aFeature({ dependencies: [on('x')] }) },
      'parent',
      'Transitive dependency detected. Cannot add a dependency to the feature that has parent dependency.',
    ],
    ['on nothing', { parent: undefined }, 'parent', 'No active feature parent exists'],
    [
      'on a feature in the archive',
      { parent: aFeature({ archivedAt: '2026-01-01T00:00:00.000Z' }) },
      'parent',
      'No active feature parent exists',
    ],
    [
      'on a feature of another project',
      { parent: aFeature({ project: 'garage' }) },
      'parent',
      'Parent and child features should be in the same project',
    ],
  ])('cannot be %s', (_, context, name, message) => {
    expect(refusalOf(() => added(aFeature(), context, name))).toMatchObject({ kind: 'InvalidOperationError', message });
  });

  it('emits its removal, if there was one', () => {
    const { feature, events } = removeDependencies(aFeature({ dependencies: [on('parent')] }));
    expect(feature.dependencies).toEqual([]);
    expect(events.map(({ type }) => type)).toEqual(['feature-dependencies-removed']);
    expect(removeDependencies(feature)).toEqual({ feature, events: [] });
  });
});
