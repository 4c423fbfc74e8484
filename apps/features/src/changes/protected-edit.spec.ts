import { affectedEnvironments, type ChangeAction } from '@bunting/contracts';
import { parseChanges } from '@bunting/contracts/validation';
import { describe, expect, it } from 'vitest';
import { aFeature, aStrategy } from '../../test/builders.ts';
import { aChangeContext, inProduction, onCheckout } from '../../test/checked-changes.ts';
import type { DomainEvent, Feature } from '../features/feature.ts';
import { applyInMemory } from './apply-in-memory.ts';
import {
  type EditedObject,
  markBypass,
  protectedAddition,
  protectedEdit,
  type ProtectedEdit,
  protectedEnvironmentsOfEdit,
  protectedRemoval,
  protectedSegmentEdits,
  type SegmentPlace,
} from './protected-edit.ts';

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
    [
      'its switch, when it is revived',
      { ...withProduction({ enabled: true, strategies: [aStrategy()] }), archivedAt },
      withProduction({ strategies: [aStrategy()] }),
    ],
    ['an empty environment that it did not list', feature, withProduction({})],
  ])('needs no change request for %s', (_, before, after) => {
    expect(protectedEdit(before, after)).toMatchObject({ environments: [], allEnvironments: false });
  });
});

describe('an edit of an archived feature, which comes back with it', () => {
  const archived = aFeature({ archivedAt });
  it.each<[string, Feature]>([
    ['its strategies', withProduction({ strategies: [aStrategy()] }, archived)],
    ['its variants', withProduction({ variants: [variant] }, archived)],
  ])('needs a change request in the environment in which %s change', (_, after) => {
    expect(protectedEdit(archived, after)).toMatchObject({ environments: ['production'], allEnvironments: false });
  });

  it('needs a change request if any environment is protected and its dependencies change', () => {
    expect(protectedEdit(archived, { ...archived, dependencies: [parent] }).allEnvironments).toBe(true);
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

const everywhere = { environments: [], allEnvironments: true };
it.each<[string, (string | null)[], SegmentPlace[], ProtectedEdit[]]>([
  ['everywhere in its project', ['shop', 'shop'], [], [{ project: 'shop', ...everywhere }]],
  [
    'everywhere in both projects, when it moves between them',
    ['shop', 'bank'],
    [],
    ['shop', 'bank'].map((project) => ({ project, ...everywhere })),
  ],
  [
    'in the project that it leaves and where it is used, when it becomes global',
    ['shop', null],
    [
      { project: 'shop', environment: 'production' },
      { project: 'bank', environment: 'production' },
    ],
    [
      { project: 'shop', ...everywhere },
      { project: 'bank', environments: ['production'], allEnvironments: false },
    ],
  ],
  [
    'where it is used, when it is global',
    [null],
    ['production', 'staging'].map((environment) => ({ project: 'bank', environment })),
    [{ project: 'bank', environments: ['production', 'staging'], allEnvironments: false }],
  ],
  ['nowhere, when it is global and unused', [null], [], []],
])('an edit of a segment needs a change request %s', (_, projects, uses, edits) => {
  expect(protectedSegmentEdits(projects, uses)).toEqual(edits);
});

const id = 's1';
const strategy = { name: 'default', constraints: [], parameters: {} };
/** Each action, and the environments of the project that it affects. */
const actions: readonly (readonly [ChangeAction, unknown, 'its own' | 'all'])[] = [
  ['updateEnabled', { enabled: true }, 'its own'],
  ['addStrategy', strategy, 'its own'],
  ['updateStrategy', { id, title: 'Other' }, 'its own'],
  ['deleteStrategy', { id }, 'its own'],
  ['reorderStrategy', [{ id, sortOrder: 9 }], 'its own'],
  ['patchVariant', { variants: [variant] }, 'its own'],
  ['archiveFeature', undefined, 'all'],
  ['addDependency', { feature: 'parent' }, 'all'],
  ['deleteDependency', undefined, 'all'],
  ['updateSegment', { id: 4, name: 'renamed' }, 'all'],
  ['deleteSegment', { id: 4 }, 'all'],
  ['updateSegmentList', { id: 4, contextName: 'userId', root: '0'.repeat(64) }, 'all'],
];
const stagedLists = [
  {
    segment: 4,
    contextName: 'userId',
    root: '0'.repeat(64),
    size: 1,
    added: 1,
    removed: 0,
    replaced: null,
    bytes: 2,
    nextVersion: 2,
  },
];
const protections: readonly (readonly [string, readonly string[]])[] = [
  ['no environment', []],
  ['its own environment', ['production']],
  ['another environment', ['staging']],
  ['several environments', ['production', 'qa', 'staging']],
];

describe.each(actions)('the change %s', (action, payload, affects) => {
  it.each(protections)('needs the approvals of the environments that it affects, where %s is protected', (_, names) => {
    expect(affectedEnvironments([{ action }], 'production', names)).toEqual(
      names.filter((name) => affects === 'all' || name === 'production'),
    );
  });

  it.each(protections)('edits no other environment than it is said to affect, where %s is protected', (_, names) => {
    const about = action === 'deleteDependency' ? { dependencies: [parent] } : {};
    const checkout = inProduction({ strategies: [aStrategy({ id })], ...about });
    const context = aChangeContext([checkout, aFeature({ name: 'parent' }), aFeature({ name: 'cart' })], {
      stagedLists,
    });
    const [change] = parseChanges([onCheckout(action, payload)]);
    const { features, segments, conflicts } = applyInMemory([{ id: 1, change: change!, snapshot: null }], context);
    expect(conflicts).toEqual([]);
    const edits = [
      ...[...context.features.values()].map((before) => protectedEdit(before, features.get(before.name)!)),
      ...[...context.segments.values()]
        .filter((before) => segments.get(before.id) !== before)
        .flatMap((before) => protectedSegmentEdits([before.project], [])),
    ];
    expect(new Set(edits.flatMap((edit) => protectedEnvironmentsOfEdit(edit, names)))).toEqual(
      new Set(affectedEnvironments([change!], context.environment, names)),
    );
  });
});

it('changes of one request need the approvals of all environments that any of them affects', () => {
  const names = (...actions: ChangeAction[]) =>
    affectedEnvironments(
      actions.map((action) => ({ action })),
      'production',
      ['production', 'staging'],
    );
  expect(names('updateEnabled', 'addStrategy')).toEqual(['production']);
  expect(names('updateEnabled', 'archiveFeature')).toEqual(['production', 'staging']);
  expect(names()).toEqual([]);
});

const enabled: DomainEvent = {
  type: 'feature-environment-enabled',
  project: 'shop',
  featureName: 'checkout',
  environment: 'production',
};
const feature: EditedObject = { kind: 'feature', name: 'checkout' };
const segment: EditedObject = { kind: 'segment', id: 4 };
const environmentsOfShop: EditedObject = { kind: 'environments-of-project', project: 'shop' };
const isMarked = (event: DomainEvent, edited: EditedObject): boolean =>
  markBypass(event, [{ edited, environments: ['production'] }]) !== event;

it('marks an event of a bypassed change request and keeps its data', () => {
  const event = { ...enabled, data: { reason: 'incident' } };
  expect(markBypass(event, [{ edited: feature, environments: ['production'] }])).toEqual({
    ...enabled,
    data: { reason: 'incident', bypassedChangeRequest: true },
  });
});

it.each<[string, DomainEvent, EditedObject]>([
  ['of the feature in a protected environment', enabled, feature],
  ['of the feature without an environment', { type: 'feature-archived', featureName: 'checkout' }, feature],
  ['of a segment that changes', { type: 'segment-updated', data: { id: 4 }, preData: { id: 4 } }, segment],
  ['of a segment that is deleted', { type: 'segment-deleted', preData: { id: 4 } }, segment],
  [
    'of an environment that the project loses',
    { type: 'project-environment-removed', project: 'shop', environment: 'production' },
    environmentsOfShop,
  ],
])('marks an event %s', (_, event, edited) => {
  expect(isMarked(event, edited)).toBe(true);
});

it.each<[string, DomainEvent, EditedObject]>([
  ['of another feature', { ...enabled, featureName: 'basket' }, feature],
  ['in an environment that is not protected', { ...enabled, environment: 'development' }, feature],
  ['of another segment', { type: 'segment-updated', data: { id: 5 } }, segment],
  ['of another object with the same id', { type: 'project-updated', data: { id: 4 } }, segment],
  [
    'of another project',
    { type: 'project-environment-removed', project: 'garage', environment: 'production' },
    environmentsOfShop,
  ],
  ['of another kind in the project', { type: 'project-updated', project: 'shop' }, environmentsOfShop],
])('does not mark an event %s', (_, event, edited) => {
  expect(isMarked(event, edited)).toBe(false);
});
