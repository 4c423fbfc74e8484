import { type Caller, type FeatureChange, maxChangesPerChangeRequest } from '@bunting/contracts';
import { describe, expect, it } from 'vitest';
import { aFeature, aStrategy, refusalOf } from '../../test/builders.ts';
import { aDestination, anExport, anImportAuthorship } from '../../test/imports.ts';
import { normalizeDependency } from '../dependencies/dependency.ts';
import { type Feature, featureEvent } from '../features/feature.ts';
import {
  decideImport,
  partsRequiringChangeRequest,
  requireProposable,
  requireProposalSize,
  splitImport,
} from './decide-import.ts';
import { type ImportEvent, missingImportPermissions } from './import-context.ts';
import type { PlannedFeature } from './plan-import.ts';

const admin: Caller = { id: 7, name: 'lee', grants: [{ permission: 'ADMIN' }] };
/** A caller who may import, but neither write in environments nor skip change requests. */
const kim: Caller = {
  ...admin,
  grants: [{ permission: 'CREATE_FEATURE' }, { permission: 'CREATE_TAG_TYPE' }, { permission: 'UPDATE_FEATURE' }],
};
const decided = (
  caller: Caller,
  { features = [], protectedEnvironments = [] }: { features?: Feature[]; protectedEnvironments?: string[] } = {},
  data = anExport(),
) =>
  decideImport(
    { project: 'shop', environment: 'development', data },
    { destination: aDestination(), features, protectedEnvironments },
    { ...anImportAuthorship(), caller },
  );
const namesOf = (features: readonly Feature[]) => features.map(({ name }) => name);

describe('an import', () => {
  it('adds the features that are new and changes those that are here, with their events in the order of the file', () => {
    const [checkout, cart] = decided(admin).added;
    if (checkout === undefined || cart === undefined) throw new Error('The import adds both features.');
    const { added, changed, events, proposed, missingPermissions } = decided(admin, {
      features: [{ ...checkout, description: 'Another' }],
    });
    expect([namesOf(added), namesOf(changed)]).toEqual([['cart'], ['checkout']]);
    expect(events.map(({ type }) => type)).toEqual([
      'tag-type-created',
      'tag-created',
      'feature-metadata-updated',
      'feature-created',
      'feature-tagged',
      'features-imported',
    ]);
    expect([proposed, missingPermissions]).toEqual([undefined, []]);
  });

  it('requires permissions for what it stores directly, and none for what it proposes', () => {
    const missing = (protectedEnvironments: string[]) =>
      decided(kim, { protectedEnvironments }).missingPermissions.map(({ permission }) => permission);
    expect(missing([])).toEqual(['CREATE_FEATURE_STRATEGY', 'UPDATE_FEATURE_ENVIRONMENT', 'UPDATE_FEATURE_DEPENDENCY']);
    expect(missing(['development'])).toEqual([]);
  });

  it('into a protected environment proposes the settings, and stores the features without them', () => {
    const { added, proposed } = decided(kim, { protectedEnvironments: ['development'] });
    expect(added).toMatchObject([
      { name: 'checkout', environments: {}, dependencies: [] },
      { name: 'cart', environments: {} },
    ]);
    expect(proposed?.environment).toBe('development');
    expect(proposed?.changes.map(({ feature, action }) => [feature, action])).toEqual([
      ['checkout', 'addStrategy'],
      ['checkout', 'addStrategy'],
      ['checkout', 'updateEnabled'],
      ['checkout', 'addDependency'],
    ]);
  });

  it('proposes nothing if nothing that is protected changes', () => {
    const plain = { features: [{ name: 'cart' }], featureStrategies: [], tagTypes: [] };
    expect(decided(kim, { protectedEnvironments: ['development'] }, plain).proposed).toBeUndefined();
  });

  it('does not propose to enable a feature whose strategies are all disabled, and says so', () => {
    const data = anExport({ featureStrategies: [{ featureName: 'checkout', name: 'default', disabled: true }] });
    const { proposed, report } = decided(kim, { protectedEnvironments: ['development'] }, data);
    expect(proposed?.changes.map(({ action }) => action)).not.toContain('updateEnabled');
    expect(report.skipped).toEqual([
      { feature: 'checkout', reason: expect.stringMatching(/^All of its strategies in the file are disabled/) },
    ]);
  });

  it('of an incomplete file is refused', () => {
    expect(refusalOf(() => decided(admin, {}, anExport({ segments: [] }))).kind).toBe('ValidationError');
  });
});

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

describe('the parts of an import that require a change request', () => {
  const kim: Caller = { id: 3, name: 'kim', grants: [] };
  const intoStaging = { project: 'shop', environment: 'staging' };

  describe('an import', () => {
    it('is applied directly if no environment of the project is protected', () => {
      const parts = { environment: 'staging', settings: false, dependencies: false, proposedIn: undefined };
      expect(partsRequiringChangeRequest(kim, intoStaging, [])).toEqual(parts);
    });

    it('into a protected environment is proposed there', () => {
      const parts = { environment: 'staging', settings: true, dependencies: true, proposedIn: 'staging' };
      expect(partsRequiringChangeRequest(kim, intoStaging, ['staging', 'production'])).toEqual(parts);
    });

    it('proposes dependencies, which every environment shares, in another environment that is protected', () => {
      const parts = { environment: 'staging', settings: false, dependencies: true, proposedIn: 'production' };
      expect(partsRequiringChangeRequest(kim, intoStaging, ['production'])).toEqual(parts);
    });

    it('of a caller who may skip change requests is applied directly', () => {
      const skipper: Caller = { ...kim, grants: [{ permission: 'SKIP_CHANGE_REQUEST', project: 'shop' }] };
      expect(partsRequiringChangeRequest(skipper, intoStaging, ['staging'])).toMatchObject({
        settings: false,
        dependencies: false,
      });
    });
  });

  describe('the change request of an import', () => {
    const change: FeatureChange = { action: 'updateEnabled', feature: 'checkout', payload: { enabled: true } };
    const tooMany = Array.from({ length: maxChangesPerChangeRequest + 1 }, () => change);
    const outsider: Caller = { ...kim, proposalDeniedProjects: ['shop'] };

    it('has no more changes than any other change request', () => {
      expect(refusalOf(() => requireProposable(kim, 'shop', tooMany)).kind).toBe('ExceedsLimitError');
      expect(() => requireProposable(kim, 'shop', tooMany.slice(1))).not.toThrow();
    });

    it('has at most 8 MB, which fits into one message of the bus', () => {
      const limit = 8 * 1024 * 1024;
      expect(() => requireProposalSize(limit)).not.toThrow();
      expect(refusalOf(() => requireProposalSize(limit + 1)).kind).toBe('ExceedsLimitError');
    });

    it('is refused if the caller may not propose changes to the project', () => {
      expect(refusalOf(() => requireProposable(outsider, 'shop', [change])).kind).toBe('NoAccessError');
    });
  });
});

const project = 'shop';
const callerWith = (...grants: Caller['grants']): Caller => ({ id: 3, name: 'kim', grants });
const created: ImportEvent = { type: 'feature-created', project, featureName: 'checkout' };
const strategyAdded: ImportEvent = { type: 'feature-strategy-add', project, environment, featureName: 'checkout' };

describe('an import', () => {
  it.each<[ImportEvent['type'], string]>([
    ['feature-created', 'CREATE_FEATURE'],
    ['feature-metadata-updated', 'UPDATE_FEATURE'],
    ['feature-tagged', 'UPDATE_FEATURE'],
    ['feature-dependency-added', 'UPDATE_FEATURE_DEPENDENCY'],
    ['feature-dependency-removed', 'UPDATE_FEATURE_DEPENDENCY'],
    ['context-field-created', 'CREATE_CONTEXT_FIELD'],
    ['tag-type-created', 'CREATE_TAG_TYPE'],
  ])('requires for %s the permission %s', (type, permission) => {
    expect(missingImportPermissions(callerWith(), [{ type, project }])).toEqual([
      { permission, environment: undefined },
    ]);
  });

  it.each<[ImportEvent['type'], string]>([
    ['feature-strategy-add', 'CREATE_FEATURE_STRATEGY'],
    ['feature-strategy-remove', 'DELETE_FEATURE_STRATEGY'],
    ['feature-environment-enabled', 'UPDATE_FEATURE_ENVIRONMENT'],
    ['feature-environment-disabled', 'UPDATE_FEATURE_ENVIRONMENT'],
    ['feature-environment-variants-updated', 'UPDATE_FEATURE_ENVIRONMENT_VARIANTS'],
  ])('requires for %s the permission %s in the environment', (type, permission) => {
    expect(missingImportPermissions(callerWith(), [{ type, project, environment }])).toEqual([
      { permission, environment },
    ]);
  });

  it('requires each permission once, in the order of its edits', () => {
    const events = [strategyAdded, created, { ...strategyAdded, featureName: 'search' }];
    expect(missingImportPermissions(callerWith(), events).map(({ permission }) => permission)).toEqual([
      'CREATE_FEATURE_STRATEGY',
      'CREATE_FEATURE',
    ]);
  });

  it('requires nothing more for the tags of its features and for itself', () => {
    const events: ImportEvent[] = [{ type: 'tag-created' }, { type: 'features-imported', project, environment }];
    expect(missingImportPermissions(callerWith(), events)).toEqual([]);
  });

  it('requires no permission that the caller has in the project and environment', () => {
    const here = callerWith(
      { permission: 'CREATE_FEATURE', project },
      { permission: 'CREATE_FEATURE_STRATEGY', project, environment },
    );
    expect(missingImportPermissions(here, [created, strategyAdded])).toEqual([]);
    const elsewhere = callerWith({ permission: 'CREATE_FEATURE_STRATEGY', project, environment: 'development' });
    expect(missingImportPermissions(elsewhere, [strategyAdded])).toHaveLength(1);
  });
});
