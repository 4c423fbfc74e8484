import { parseChanges } from '@bunting/contracts/validation';
import { describe, expect, it } from 'vitest';
import { aStrategy } from '../../test/builders.ts';
import { aChangeContext, betaSegment, inProduction, onCheckout, type Posted } from '../../test/checked-changes.ts';
import type { Feature } from '../features/feature.ts';
import { normalizeDependency } from '../dependencies/dependency.ts';
import { currentSnapshot, findOverwriteConflicts, findOverwrites } from './conflicts.ts';
import type { ChangeContext } from './change-context.ts';

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
const edited = (about: Partial<typeof strategy>) => aChangeContext([withStrategies({ ...strategy, ...about }, second)]);

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
    ['that did the same', onCheckout('updateStrategy', { id: 's1', title: 'Mine' }), stored, edited({ title: 'Mine' })],
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
