import { parseChanges } from '@bunting/contracts/validation';
import { describe, expect, it } from 'vitest';
import { aFeature, aSegment, aStrategy, someProjectContext, refusalOf } from '../../test/builders.ts';
import { aChangeContext, betaSegment, inProduction, onCheckout, type Posted } from '../../test/checked-changes.ts';
import { normalizeDependency } from '../dependencies/dependency.ts';
import type { Feature } from '../features/feature.ts';
import { fixedResourceLimits } from '../names.ts';
import { applyInMemory } from './apply-in-memory.ts';
import type { ChangeContext } from './change-context.ts';
import { currentSnapshot, findOverwriteConflicts, findOverwrites, requireNoConflict } from './conflicts.ts';

describe('a conflict', () => {
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
    stagedLists: [],
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

  it('is every change for a feature whose name another one has now, also its archiving', () => {
    const of = (proposedFor: { featureCreatedAt?: string }, action: string, payload: unknown) =>
      applyInMemory(
        parseChanges([on(action, payload)]).map((change, id) => ({ id, change, snapshot: null, ...proposedFor })),
        aChangeContext(),
      ).conflicts;
    const message = 'Feature has been deleted, and another one has its name';
    const actions: readonly [string, unknown][] = [
      ['archiveFeature', {}],
      ['updateEnabled', { enabled: false }],
    ];
    for (const [action, payload] of actions) {
      const conflict = { code: 'feature-deleted', message, feature: 'checkout' };
      expect(of({ featureCreatedAt: '2020-01-01T00:00:00.000Z' }, action, payload)).toEqual([conflict]);
      expect(of({ featureCreatedAt: checkout.createdAt }, action, payload)).toEqual([]);
      // as an older version stored it
      expect(of({}, action, payload)).toEqual([]);
    }
  });

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
});

describe('an overwrite', () => {
  const variant = (name: string) => ({ name, weight: 1000, weightType: 'variable', stickiness: 'default' }) as const;
  const rollout = (percentage: string) => ({ rollout: percentage, stickiness: 'default', groupId: 'checkout' });
  const strategy = aStrategy({
    id: 's1',
    name: 'flexibleRollout',
    title: 'Half',
    parameters: rollout('50'),
    segments: [4, 2],
  });
  const second = aStrategy({ id: 's2', sortOrder: 1 });
  const withStrategies = (...strategies: Feature['environments'][string]['strategies']) =>
    inProduction({ strategies: strategies.toSorted((one, other) => one.sortOrder - other.sortOrder) });
  const withVariants = (name: string) =>
    inProduction({ environments: { production: { enabled: false, strategies: [], variants: [variant(name)] } } });
  const dependingOn = (parent: string) => inProduction({ dependencies: [normalizeDependency(parent)] });
  const withSegment = (about: Partial<typeof betaSegment>): ChangeContext =>
    aChangeContext(undefined, { segments: new Map([[4, { ...betaSegment, ...about }]]) });
  const onBeta = (action: string, more: object = {}): Posted => ({ action, payload: { id: 4, ...more } });

  /** A change as it was proposed in one state, and the state that it would be applied in. */
  const requested = (posted: Posted, proposedIn: ChangeContext) => {
    const [change] = parseChanges([posted]);
    if (change === undefined) throw new Error('There is no change.');
    return { id: 7, change, snapshot: currentSnapshot(change, proposedIn) };
  };
  const overwrites = (posted: Posted, proposedIn: ChangeContext, now: ChangeContext) =>
    findOverwrites(requested(posted, proposedIn), now);

  const stored = aChangeContext([withStrategies(strategy, second)]);
  const edited = (about: Partial<typeof strategy>) =>
    aChangeContext([withStrategies({ ...strategy, ...about }, second)]);

  describe('a change overwrites a newer edit', () => {
    it.each<[string, Posted, ChangeContext, ChangeContext, object]>([
      [
        'of a property of a strategy that it sets',
        onCheckout('updateStrategy', { id: 's1', title: 'Mine' }),
        stored,
        edited({ title: 'Theirs' }),
        { property: 'title', snapshot: 'Half', current: 'Theirs', proposed: 'Mine' },
      ],
      [
        'of a parameter of a strategy, and names the parameter',
        onCheckout('updateStrategy', { id: 's1', parameters: rollout('70') }),
        stored,
        edited({ parameters: rollout('60') }),
        { property: 'parameters.rollout', snapshot: '50', current: '60', proposed: '70' },
      ],
      [
        'that added a parameter which another type of strategy does not have',
        onCheckout('updateStrategy', { id: 's1', name: 'default', parameters: rollout('50') }),
        stored,
        edited({ parameters: { ...rollout('50'), more: 'theirs' } }),
        { property: 'parameters.more', snapshot: null, current: 'theirs', proposed: null },
      ],
      [
        'of a strategy that it deletes',
        onCheckout('deleteStrategy', { id: 's1' }),
        stored,
        edited({ disabled: true }),
        { property: 'disabled', snapshot: false, current: true, proposed: null },
      ],
      [
        'of the order of strategies',
        onCheckout('reorderStrategy', [{ id: 's1', sortOrder: 5 }]),
        stored,
        edited({ sortOrder: 3 }),
        {
          property: 'sortOrder',
          snapshot: [
            ['s1', 0],
            ['s2', 1],
          ],
          current: [
            ['s2', 1],
            ['s1', 3],
          ],
          proposed: [
            ['s2', 1],
            ['s1', 5],
          ],
        },
      ],
      [
        'of the variants of the environment',
        onCheckout('patchVariant', { variants: [variant('mine')] }),
        aChangeContext([withVariants('old')]),
        aChangeContext([withVariants('theirs')]),
        { property: 'variants', snapshot: [variant('old')], current: [variant('theirs')] },
      ],
      [
        'that gave the feature another parent',
        onCheckout('addDependency', { feature: 'mine' }),
        aChangeContext([dependingOn('old')]),
        aChangeContext([dependingOn('theirs')]),
        { property: 'dependencies', current: [normalizeDependency('theirs')], proposed: [{ feature: 'mine' }] },
      ],
      [
        'that gave a parent to a feature without one',
        onCheckout('addDependency', { feature: 'mine' }),
        aChangeContext([inProduction()]),
        aChangeContext([dependingOn('theirs')]),
        { property: 'dependencies', snapshot: [], current: [normalizeDependency('theirs')] },
      ],
      [
        'that removed the dependency that it replaces',
        onCheckout('addDependency', { feature: 'mine' }),
        aChangeContext([dependingOn('old')]),
        aChangeContext([inProduction()]),
        { property: 'dependencies', current: [], proposed: [{ feature: 'mine' }] },
      ],
      [
        'that changed the dependency that it removes',
        onCheckout('deleteDependency'),
        aChangeContext([dependingOn('old')]),
        aChangeContext([dependingOn('theirs')]),
        { property: 'dependencies', current: [normalizeDependency('theirs')], proposed: [] },
      ],
      [
        'of a segment that it updates',
        onBeta('updateSegment', { name: 'mine' }),
        withSegment({}),
        withSegment({ name: 'theirs' }),
        { property: 'name', snapshot: 'beta', current: 'theirs', proposed: 'mine' },
      ],
      [
        'of a segment that it deletes',
        onBeta('deleteSegment'),
        withSegment({}),
        withSegment({ description: 'theirs' }),
        { property: 'description', snapshot: null, current: 'theirs', proposed: null },
      ],
      [
        'of the list of a segment that it deletes',
        onBeta('deleteSegment'),
        withSegment({ list: { contextName: 'userId', size: 1, version: 6 } }),
        withSegment({ list: { contextName: 'userId', size: 2, version: 7 } }),
        { property: 'list', snapshot: { version: 6 }, current: { version: 7 }, proposed: null },
      ],
    ])('%s', (_, posted, proposedIn, now, expected) => {
      expect(overwrites(posted, proposedIn, now)).toMatchObject([expected]);
    });

    it('that switched the feature, when it would switch it back', () => {
      const change = requested(onCheckout('updateEnabled', { enabled: false }), aChangeContext([inProduction()]));
      expect(findOverwrites(change, aChangeContext([inProduction({ enabled: true })]))).toEqual([
        { property: 'enabled', snapshot: false, current: true, proposed: false },
      ]);
    });
  });

  describe('a change overwrites no edit', () => {
    it.each<[string, Posted, ChangeContext, ChangeContext]>([
      ['where there was none', onCheckout('updateStrategy', { id: 's1', title: 'Mine' }), stored, stored],
      [
        'of a property that it does not set',
        onCheckout('updateStrategy', { id: 's1', title: 'Mine' }),
        stored,
        edited({ disabled: true }),
      ],
      [
        'that did the same',
        onCheckout('updateStrategy', { id: 's1', title: 'Mine' }),
        stored,
        edited({ title: 'Mine' }),
      ],
      [
        'that chose the same segments in another order',
        onCheckout('updateStrategy', { id: 's1', segments: [5, 2] }),
        stored,
        edited({ segments: [2, 5] }),
      ],
      [
        'of the order of strategies when it deletes one of them',
        onCheckout('deleteStrategy', { id: 's1' }),
        stored,
        edited({ sortOrder: 9 }),
      ],
      [
        'of a strategy that is gone',
        onCheckout('updateStrategy', { id: 's1', title: 'Mine' }),
        stored,
        aChangeContext([withStrategies(second)]),
      ],
      ['of a feature that is gone', onCheckout('updateEnabled', { enabled: true }), stored, aChangeContext([])],
      [
        'when it adds a strategy',
        onCheckout('addStrategy', { name: 'default', constraints: [], parameters: {} }),
        stored,
        edited({ title: 'Theirs' }),
      ],
      ['when it archives the feature', onCheckout('archiveFeature'), stored, edited({ title: 'Theirs' })],
    ])('%s', (_, posted, proposedIn, now) => {
      expect(overwrites(posted, proposedIn, now)).toEqual([]);
    });

    it('where an older snapshot lacks a list that is empty', () => {
      const constraint = { contextName: 'userId', operator: 'IN', values: ['1'] };
      const change = requested(onCheckout('updateStrategy', { id: 's1', constraints: [constraint] }), stored);
      expect(findOverwrites({ ...change, snapshot: { id: 's1', title: 'Half' } }, stored)).toEqual([]);
    });

    it('that emptied a title which was null', () => {
      const untitled = aChangeContext([withStrategies({ ...strategy, title: null })]);
      const change = onCheckout('updateStrategy', { id: 's1', title: 'Mine' });
      expect(overwrites(change, untitled, aChangeContext([withStrategies({ ...strategy, title: '' })]))).toEqual([]);
    });
  });

  describe('the reason not to overwrite an edit', () => {
    const undone = 'applying would overwrite that change';

    it.each<[string, Posted, ChangeContext, ChangeContext, object]>([
      [
        `Strategy s1 of feature flag checkout was changed; ${undone}`,
        onCheckout('deleteStrategy', { id: 's1' }),
        stored,
        edited({ title: 'Theirs' }),
        { feature: 'checkout' },
      ],
      [
        `Environment variants of feature flag checkout in production were changed; ${undone}`,
        onCheckout('patchVariant', { variants: [] }),
        aChangeContext([withVariants('old')]),
        aChangeContext([withVariants('theirs')]),
        { feature: 'checkout' },
      ],
      [
        `Feature flag checkout was changed; ${undone}`,
        onCheckout('addDependency', { feature: 'mine' }),
        aChangeContext([inProduction()]),
        aChangeContext([dependingOn('theirs')]),
        { feature: 'checkout' },
      ],
      [
        `Segment 4 (theirs) was changed; ${undone}`,
        onBeta('updateSegment', { name: 'mine' }),
        withSegment({}),
        withSegment({ name: 'theirs' }),
        { segment: 4 },
      ],
    ])('reads: %s', (message, posted, proposedIn, now, subject) => {
      expect(findOverwriteConflicts([requested(posted, proposedIn)], now)).toEqual([
        { code: 'overwrite', message, changeId: 7, ...subject },
      ]);
    });

    it('is given for those changes alone that overwrite one', () => {
      const changes = [
        requested(onCheckout('updateStrategy', { id: 's1', title: 'Mine' }), stored),
        requested(onCheckout('updateStrategy', { id: 's2', title: 'Mine' }), stored),
      ];
      expect(findOverwriteConflicts(changes, edited({ title: 'Theirs' }))).toHaveLength(1);
    });
  });
});
