import { parseChanges } from '@bunting/contracts/validation';
import { describe, expect, it } from 'vitest';
import { aFeature, aSegment, aStrategy, someProjectContext } from '../../test/builders.ts';
import { normalizeDependency } from '../dependencies/dependency.ts';
import { fixedResourceLimits } from '../names.ts';
import { refusalOf } from '../../test/refusal-of.ts';
import { requireNoConflict } from './conflicts.ts';
import { applyInMemory } from './apply-in-memory.ts';
import type { ChangeContext } from './change-context.ts';

const variant = { name: 'blue', weight: 1000, weightType: 'variable', stickiness: 'default' } as const;
const s1 = aStrategy({ id: 's1', name: 'default' });
const inProduction = (strategies = [s1]) => ({ production: { enabled: false, strategies, variants: [] } });
const checkout = aFeature({ environments: inProduction() });
const parent = aFeature({
  name: 'parent',
  environments: { production: { enabled: true, strategies: [], variants: [variant] } },
});
const beta = aSegment({ id: 4, project: 'shop' });
const foreign = aSegment({ id: 5, name: 'theirs', project: 'garage' });
const gone = undefined;

interface About extends Partial<Omit<ChangeContext, 'features'>> {
  readonly features?: readonly (ReturnType<typeof aFeature> | undefined)[];
}

const aChangeContext = ({ features = [checkout, parent], ...about }: About = {}): ChangeContext => ({
  project: 'shop',
  environment: 'production',
  projectContext: someProjectContext({ segments: new Map([beta, foreign].map((segment) => [segment.id, segment])) }),
  protectedEnvironments: [],
  now: '2026-11-21T10:00:00.000Z',
  generateStrategyId: () => 'made',
  features: new Map(features.flatMap((feature) => (feature === gone ? [] : [[feature.name, feature] as const]))),
  children: new Map(),
  segments: new Map([beta, foreign].map((segment) => [segment.id, segment])),
  segmentReferrers: new Map(),
  segmentsByName: new Map(),
  ...about,
});
const conflictsOf = (posted: readonly object[], context: ChangeContext) =>
  applyInMemory(
    parseChanges(posted).map((change, id) => ({ id, change, snapshot: null })),
    context,
  ).conflicts;

const on = (action: string, payload: unknown = {}, feature = 'checkout') => ({ action, feature, payload });
const update = on('updateStrategy', { id: 's1', title: 'ours' });
const add = (more: object = {}) => on('addStrategy', { name: 'default', constraints: [], parameters: {}, ...more });
const depend = (feature: string, more: object = {}) => on('addDependency', { feature, ...more });

describe('a change in conflict with the current state', () => {
  it.each<[string, string, object, About]>([
    ['feature-archived', 'Feature has been archived', add(), { features: [{ ...checkout, archivedAt: 'now' }] }],
    ['feature-deleted', 'Feature has been deleted', add(), { features: [] }],
    [
      'feature-moved',
      'Feature has been moved to another project',
      add(),
      { features: [{ ...checkout, project: 'garage' }] },
    ],
    [
      'environment-unlinked',
      'Environment production is no longer available for this feature',
      add(),
      { projectContext: someProjectContext({ environments: [] }) },
    ],
    [
      'strategy-deleted',
      'Strategy has been deleted',
      update,
      { features: [{ ...checkout, environments: inProduction([]) }] },
    ],
    ['strategy-deleted', 'Strategy has been deleted', on('reorderStrategy', [{ id: 'gone', sortOrder: 1 }]), {}],
    ['strategy-type-gone', 'Strategy type custom no longer exists', add({ name: 'custom' }), {}],
    ['strategy-type-deprecated', 'Strategy type userWithId is deprecated', add({ name: 'userWithId' }), {}],
    [
      'strategy-type-deprecated',
      'Strategy type userWithId is deprecated',
      on('updateStrategy', { id: 's1', name: 'userWithId', parameters: {} }),
      {},
    ],
    [
      'strategy-limit',
      'Strategy limit reached',
      add(),
      {
        features: [
          {
            ...checkout,
            environments: inProduction(
              Array.from({ length: fixedResourceLimits.strategiesPerEnvironment }, (_, nth) =>
                aStrategy({ id: `s${nth}` }),
              ),
            ),
          },
        ],
      },
    ],
    ['segment-missing', 'Segment 99 has been deleted', add({ segments: [99] }), {}],
    ['segment-foreign', 'Segment theirs does not belong to project "shop"', add({ segments: [5] }), {}],
    ['segment-missing', 'Segment 99 has been deleted', { action: 'deleteSegment', payload: { id: 99 } }, {}],
    [
      'segment-foreign',
      'Segment theirs does not belong to project "shop"',
      { action: 'updateSegment', payload: { id: 5, name: 'x' } },
      {},
    ],
    [
      'segment-in-use',
      'Segment beta is in use',
      { action: 'deleteSegment', payload: { id: 4 } },
      { segmentReferrers: new Map([[4, [{ name: 'other', project: 'shop' }]]]) },
    ],
    [
      'segment-name',
      'Segment name already exists',
      { action: 'updateSegment', payload: { id: 4, name: 'taken' } },
      { segmentsByName: new Map([['taken', 77]]) },
    ],
    ['parent-missing', 'No active feature nothing exists', depend('nothing'), {}],
    ['dependency-self', 'A feature flag cannot depend on itself', depend('checkout'), {}],
    [
      'dependency-transitive',
      'Transitive dependency detected. Cannot add a dependency to the feature that other features depend on',
      depend('parent'),
      { children: new Map([['checkout', ['child']]]) },
    ],
    [
      'dependency-transitive',
      'Transitive dependency detected. Cannot add a dependency to the feature that has parent dependency',
      depend('parent'),
      { features: [checkout, { ...parent, dependencies: [normalizeDependency('grandparent')] }] },
    ],
    [
      'dependency-project',
      'Parent and child features should be in the same project',
      depend('parent'),
      { features: [checkout, { ...parent, project: 'garage' }] },
    ],
    ['parent-variant', 'Variant red of parent no longer exists', depend('parent', { variants: ['blue', 'red'] }), {}],
    [
      'has-children',
      'You can not archive/delete this feature since other features depend on it',
      on('archiveFeature'),
      { children: new Map([['checkout', ['child']]]) },
    ],
  ])('reports %s: %s', (code, message, change, about) => {
    expect(conflictsOf([change], aChangeContext(about))).toMatchObject([{ code, message }]);
  });

  it('lets a feature depend on variants of a parent that has none yet', () => {
    const without = { ...parent, environments: {} };
    const context = aChangeContext({ features: [checkout, without] });
    expect(conflictsOf([depend('parent', { variants: ['red'] })], context)).toEqual([]);
  });

  it('reports a rule that has become stricter', () => {
    const strict = someProjectContext({ contextFields: new Map([['plan', { legalValues: [{ value: 'pro' }] }]]) });
    const constraints = [{ contextName: 'plan', operator: 'IN', values: ['free'] }];
    expect(conflictsOf([add({ constraints })], aChangeContext({ projectContext: strict }))).toMatchObject([
      { code: 'invalid-payload', changeId: 0, feature: 'checkout' },
    ]);
  });
});

describe('there is no conflict for', () => {
  it.each<[string, readonly object[], About]>([
    ['to delete a strategy that has gone', [on('deleteStrategy', { id: 'gone' })], {}],
    ['to turn off what is off', [on('updateEnabled', { enabled: false })], {}],
    ['to remove a dependency that does not exist', [on('deleteDependency')], {}],
    ['to archive what is archived', [on('archiveFeature')], { features: [{ ...checkout, archivedAt: 'now' }] }],
    ['to depend on a variant that a strategy of the parent has', [depend('parent', { variants: ['blue'] })], {}],
    ['to name variants of a parent that must be off', [depend('parent', { enabled: false, variants: ['red'] })], {}],
    [
      'to depend on a variant that the request itself adds to the parent',
      [
        depend('parent', { variants: ['red'] }),
        on('patchVariant', { variants: [{ ...variant, name: 'red' }] }, 'parent'),
      ],
      {},
    ],
    [
      'to change a strategy whose type is on its way out, and to name the type',
      [on('updateStrategy', { id: 's1', name: 'userWithId', title: 'ours' })],
      { features: [{ ...checkout, environments: inProduction([{ ...s1, name: 'userWithId' }]) }] },
    ],
  ])('%s', (_, changes, about) => {
    expect(conflictsOf(changes, aChangeContext(about))).toEqual([]);
  });
});

it('changes in conflict are refused with every reason and the feature or segment that it concerns', () => {
  const archived = { code: 'feature-archived', message: 'Feature has been archived' } as const;
  const deleted = { code: 'segment-missing', message: 'Segment 4 has been deleted' } as const;
  const conflicts = [
    { ...archived, feature: 'checkout', changeId: 1 },
    { ...deleted, segment: 4, changeId: 2 },
  ];
  expect(refusalOf(() => requireNoConflict(conflicts))).toMatchObject({
    kind: 'ConflictError',
    message:
      'The changes could not be applied. checkout: Feature has been archived; segment 4: Segment 4 has been deleted',
    details: conflicts,
  });
  expect(() => requireNoConflict([])).not.toThrow();
});
