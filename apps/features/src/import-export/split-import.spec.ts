import { describe, expect, it } from 'vitest';
import { aFeature, aStrategy } from '../../test/builders.ts';
import { type Feature, featureEvent } from '../features/feature.ts';
import { normalizeDependency } from '../dependencies/dependency.ts';
import type { ImportEvent } from './import-context.ts';
import type { PlannedFeature } from './plan-import.ts';
import { splitImport } from './decide-import.ts';

const environment = 'production';
const variant = { name: 'blue', weight: 1000, weightType: 'variable', stickiness: 'default' } as const;
const settings = (about: Partial<Feature['environments'][string]> = {}): Feature['environments'] => ({
  production: { enabled: false, strategies: [], variants: [], ...about },
});
const old = aStrategy({ id: 'old' });
const stored = aFeature({ environments: settings({ strategies: [old] }) });

const described = featureEvent('feature-metadata-updated', stored);
const added = featureEvent('feature-strategy-add', stored, { environment });
const elsewhere = featureEvent('feature-strategy-add', stored, { environment: 'development' });
const depends = featureEvent('feature-dependency-added', stored);
const planned = (feature: Feature, events: readonly ImportEvent[] = [], isNew = false): PlannedFeature => ({
  feature,
  events,
  isNew,
});
const split = (
  plan: PlannedFeature,
  parts: { settings?: boolean; dependencies?: boolean } = { settings: true, dependencies: true },
  existing: readonly Feature[] = [stored],
) =>
  splitImport([plan], new Map(existing.map((feature) => [feature.name, feature])), {
    environment,
    settings: false,
    dependencies: false,
    proposedIn: environment,
    ...parts,
  });
const proposalsFor = (about: Partial<Feature['environments'][string]>, before: Feature = stored) =>
  split(planned({ ...before, environments: settings(about) }), undefined, [before]).changes;

describe('an import into a protected environment', () => {
  it('proposes the strategies of the file in place of the existing ones', () => {
    const { id: _, ...content } = aStrategy({ title: 'New', segments: [4], sortOrder: 2 });
    expect(proposalsFor({ strategies: [{ ...content, id: 'new' }] })).toEqual([
      { action: 'deleteStrategy', feature: 'checkout', payload: { id: 'old' } },
      { action: 'addStrategy', feature: 'checkout', payload: content },
    ]);
  });

  it('writes out a missing rollout as 0 percent, because a proposed change would make it 100', () => {
    const strategies = [aStrategy({ name: 'flexibleRollout', parameters: { groupId: 'checkout' } })];
    expect(proposalsFor({ strategies })).toMatchObject([
      { action: 'deleteStrategy' },
      { action: 'addStrategy', payload: { parameters: { rollout: '0', groupId: 'checkout' } } },
    ]);
  });

  it.each([
    ['variants', { variants: [variant] }, { action: 'patchVariant', payload: { variants: [variant] } }],
    ['a switch', { enabled: true }, { action: 'updateEnabled', payload: { enabled: true } }],
  ])('proposes %s, and no strategies if those are the same', (_, about, expected) => {
    expect(proposalsFor({ strategies: [old], ...about })).toEqual([{ feature: 'checkout', ...expected }]);
  });

  it('makes the other edits of the feature directly, and leaves its settings there as they are', () => {
    const after = { ...stored, description: 'New', environments: settings() };
    const { immediate, changes } = split(planned(after, [described, added, elsewhere]));
    expect(immediate).toEqual([planned({ ...stored, description: 'New' }, [described, elsewhere])]);
    expect(changes).toHaveLength(1);
  });

  it('leaves a feature alone that has no other edits', () => {
    const after = { ...stored, environments: settings() };
    expect(split(planned(after, [added])).immediate).toEqual([]);
  });

  it('creates a new feature without settings', () => {
    const after = aFeature({ name: 'new', environments: settings({ strategies: [old] }) });
    const { immediate, changes } = split(planned(after, [added], true));
    expect(immediate).toEqual([planned({ ...after, environments: {} }, [], true)]);
    expect(changes).toMatchObject([{ action: 'addStrategy', feature: 'new' }]);
  });

  it('proposes dependencies, and keeps the stored ones until then', () => {
    const after = { ...stored, dependencies: [normalizeDependency('parent', true, ['blue'])] };
    const { immediate, changes } = split(planned(after, [described, depends]));
    expect(changes).toEqual([
      {
        action: 'addDependency',
        feature: 'checkout',
        payload: { feature: 'parent', enabled: true, variants: ['blue'] },
      },
    ]);
    expect(immediate).toEqual([planned(stored, [described])]);
  });
});

describe('an import makes directly', () => {
  it('what changes nothing in a protected environment', () => {
    const plan = planned({ ...stored, description: 'New' }, [described, elsewhere]);
    expect(split(plan)).toEqual({ immediate: [plan], changes: [] });
  });

  it('settings in an environment that is not protected, while dependencies are proposed', () => {
    const after = {
      ...stored,
      environments: settings({ enabled: true, strategies: [old] }),
      dependencies: [normalizeDependency('parent')],
    };
    const { immediate, changes } = split(planned(after, [added, depends]), { dependencies: true });
    expect(immediate).toEqual([planned({ ...after, dependencies: [] }, [added])]);
    expect(changes).toMatchObject([{ action: 'addDependency' }]);
  });
});
