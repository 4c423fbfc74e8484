import type { Caller } from '@bunting/contracts';
import { describe, expect, it } from 'vitest';
import { aDestination, anExport, anImportAuthorship } from '../../test/imports.ts';
import { refusalOf } from '../../test/refusal-of.ts';
import { decideImport } from './decide-import.ts';
import type { Feature } from '../features/feature.ts';

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
