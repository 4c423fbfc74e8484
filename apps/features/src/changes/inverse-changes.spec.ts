import { parseChanges } from '@bunting/contracts/validation';
import { expect, it } from 'vitest';
import {
  aChangeContext,
  defaultStrategy,
  inProduction,
  onCheckout,
  rolloutStrategy,
  strategyBody,
  type Posted,
} from '../../test/checked-changes.ts';
import { aFeature } from '../../test/builders.ts';
import { normalizeDependency } from '../dependencies/dependency.ts';
import { applyInMemory } from './apply-in-memory.ts';
import { inverseChanges } from './inverse-changes.ts';
import { findOverwrites } from './conflicts.ts';
import type { ChangeContext } from './change-context.ts';

const variant = { name: 'blue', weight: 1000, weightType: 'variable', stickiness: 'default' } as const;
const requestsOf = (posted: readonly Posted[]) =>
  parseChanges(posted).map((change, id) => ({ id, change, snapshot: null }));

/** Applies changes, and returns the changes that undo them and the state in between. */
const inverseOf = (posted: readonly Posted[], context: ChangeContext) => {
  const changes = requestsOf(posted);
  const result = applyInMemory(changes, context);
  expect(result.conflicts).toEqual([]);
  const applied = { ...context, features: result.features, segments: result.segments };
  return { inverse: inverseChanges(changes, context, result), applied };
};
const undoing = (posted: readonly Posted[], context: ChangeContext = aChangeContext()) =>
  inverseOf(posted, context).inverse.map(({ change }) => change);

it.each<[string, Posted, readonly Posted[]]>([
  [
    'an updated strategy gets back the properties that changed, and only those',
    onCheckout('updateStrategy', { id: 's1', title: 'All', segments: [4] }),
    [onCheckout('updateStrategy', { id: 's1', title: 'Half', segments: [4, 2] })],
  ],
  [
    'a strategy that got another type gets back its type with its parameters',
    onCheckout('updateStrategy', { id: 's1', name: 'default', parameters: rolloutStrategy.parameters }),
    [
      onCheckout('updateStrategy', {
        id: 's1',
        name: 'flexibleRollout',
        parameters: { rollout: '50', stickiness: 'userId', groupId: 'checkout' },
      }),
    ],
  ],
  [
    'an added strategy is deleted',
    onCheckout('addStrategy', strategyBody),
    [onCheckout('deleteStrategy', { id: 'made-1' })],
  ],
  [
    'a deleted strategy is added again at its place in the order',
    onCheckout('deleteStrategy', { id: 's2' }),
    [
      onCheckout('addStrategy', {
        name: 'default',
        title: null,
        disabled: false,
        constraints: [],
        parameters: {},
        variants: [],
        segments: [],
        sortOrder: 1,
      }),
    ],
  ],
  [
    'moved strategies move back, and the others stay',
    onCheckout('reorderStrategy', [{ id: 's1', sortOrder: 9 }]),
    [onCheckout('reorderStrategy', [{ id: 's1', sortOrder: 0 }])],
  ],
  [
    'an enabled feature is disabled',
    onCheckout('updateEnabled', { enabled: true }),
    [onCheckout('updateEnabled', { enabled: false })],
  ],
  [
    'replaced variants come back',
    onCheckout('patchVariant', { variants: [variant] }),
    [onCheckout('patchVariant', { variants: [] })],
  ],
  [
    'an added dependency is removed',
    onCheckout('addDependency', { feature: 'parent' }),
    [onCheckout('deleteDependency', {})],
  ],
  [
    'an updated segment gets back its content, and stays in its project',
    { action: 'updateSegment', payload: { id: 4, name: 'brave' } },
    [{ action: 'updateSegment', payload: { id: 4, name: 'beta', description: null, constraints: [] } }],
  ],
])('when a change request is undone, %s', (_, change, expected) => {
  expect(undoing([change], aChangeContext([inProduction(), aFeature({ name: 'parent' })]))).toEqual(expected);
});

it('a removed or replaced dependency comes back with its variants', () => {
  const child = inProduction({ dependencies: [normalizeDependency('parent', true, ['blue'])] });
  const context = aChangeContext([child, aFeature({ name: 'parent' }), aFeature({ name: 'other' })]);
  const back = [onCheckout('addDependency', { feature: 'parent', enabled: true, variants: ['blue'] })];
  expect(undoing([onCheckout('deleteDependency')], context)).toEqual(back);
  expect(undoing([onCheckout('addDependency', { feature: 'other' })], context)).toEqual(back);
});

it('a feature that lost its last strategy gets it back before it is enabled again', () => {
  const context = aChangeContext([inProduction({ enabled: true, strategies: [defaultStrategy] })]);
  expect(undoing([onCheckout('deleteStrategy', { id: 's2' })], context)).toMatchObject([
    { action: 'addStrategy' },
    { action: 'updateEnabled', payload: { enabled: true } },
  ]);
});

it('a title and a parameter that a change request added are taken away again by an empty text, for null keeps them', () => {
  const parameters = { a: '1' };
  const context = aChangeContext([inProduction({ strategies: [{ ...defaultStrategy, parameters }] })]);
  const change = onCheckout('updateStrategy', { id: 's2', title: 'All', parameters: { b: '2' } });
  expect(undoing([change], context)).toEqual([
    onCheckout('updateStrategy', { id: 's2', title: '', parameters: { a: '1', b: '' } }),
  ]);
});

it('changes that had no effect are not undone', () => {
  const changes = [
    onCheckout('updateEnabled', { enabled: false }),
    onCheckout('deleteStrategy', { id: 'gone' }),
    { action: 'updateSegment', payload: { id: 4, name: 'beta' } },
  ];
  expect(undoing(changes)).toEqual([]);
});

it('an archived feature and a deleted segment are not undone, and the other changes are', () => {
  const context = aChangeContext([inProduction(), inProduction({ name: 'banner', strategies: [] })]);
  const changes = [
    onCheckout('updateStrategy', { id: 's1', segments: [] }),
    onCheckout('archiveFeature'),
    { action: 'deleteSegment', payload: { id: 4 } },
    onCheckout('updateEnabled', { enabled: true }, 'banner'),
  ];
  const [deletion, disabling] = undoing(changes, context);
  expect(deletion).toMatchObject({ action: 'deleteStrategy', feature: 'banner' });
  expect(disabling).toEqual(onCheckout('updateEnabled', { enabled: false }, 'banner'));
  expect(undoing(changes, context)).toHaveLength(2);
});

it('undoing an applied change request overwrites nothing, unless its result was edited since', () => {
  const { inverse, applied } = inverseOf([onCheckout('updateStrategy', { id: 's1', title: 'All' })], aChangeContext());
  const [undo] = inverse.map(({ change, snapshot }, id) => ({ id, change, snapshot }));
  if (undo === undefined) throw new Error('Nothing is undone.');
  expect(findOverwrites(undo, applied)).toEqual([]);
  const edited = aChangeContext([inProduction({ strategies: [{ ...rolloutStrategy, title: 'Theirs' }] })]);
  expect(findOverwrites(undo, edited)).toEqual([
    { property: 'title', snapshot: 'All', current: 'Theirs', proposed: 'Half' },
  ]);
});

it('the undone change of a segment names it as it is called then', () => {
  const renaming = { action: 'updateSegment', payload: { id: 4, name: 'brave' } };
  expect(inverseOf([renaming], aChangeContext()).inverse).toMatchObject([{ segmentName: 'brave' }]);
});
