import type { Change } from '@bunting/contracts';
import { parseChanges } from '@bunting/contracts/validation';
import { describe, expect, it } from 'vitest';
import { aFeature, aSegment, type FeatureAbout } from '../../test/builders.ts';
import {
  aChangeContext,
  betaSegment,
  checkedChange,
  checkedChanges,
  disabledStrategy,
  faultOf,
  inProduction,
  onCheckout,
  type Posted,
  rolloutStrategy,
  strategyBody,
} from '../../test/checked-changes.ts';
import { normalizeDependency } from '../dependencies/dependency.ts';
import { featureActionHandlers } from './action-handlers.ts';
import { featureNamesOf, segmentIdsOf } from './change-context.ts';

describe('changes of one request are checked together', () => {
  const child = aFeature({ name: 'child', dependencies: [normalizeDependency('checkout')] });
  const withChild = aChangeContext([inProduction(), child], { children: new Map([['checkout', ['child']]]) });

  it('a parent can be archived with its children, in whichever order', () => {
    const archive = [onCheckout('archiveFeature'), onCheckout('archiveFeature', undefined, 'child')];
    expect(checkedChanges(archive, withChild)).toHaveLength(2);
    expect(checkedChanges(archive.toReversed(), withChild)).toHaveLength(2);
    expect(checkedChange(archive[0] as Posted, withChild, [archive[1] as Posted])).toBeDefined();
    expect(
      checkedChange(archive[0] as Posted, withChild, [onCheckout('deleteDependency', undefined, 'child')]),
    ).toBeDefined();
    expect(faultOf(archive[0] as Posted, withChild)).toMatchObject({
      kind: 'ValidationError',
      path: '/body/0/feature',
    });
  });

  it('a parent cannot be archived while a child is not part of the request', () => {
    const context = aChangeContext([inProduction()], { children: new Map([['checkout', ['unknown']]]) });
    expect(faultOf(onCheckout('archiveFeature'), context).message).toContain('since other features depend on it');
  });

  it('a parent cannot get a parent', () => {
    const context = aChangeContext([inProduction(), aFeature({ name: 'b' }), aFeature({ name: 'c' })]);
    const depend = (on: string, feature: string) => onCheckout('addDependency', { feature: on }, feature);
    expect(checkedChanges([depend('b', 'checkout'), depend('b', 'c')], context)).toHaveLength(2);
    expect(faultOf(depend('c', 'b'), context, [depend('b', 'checkout')]).message).toContain(
      'Transitive dependency detected',
    );
    expect(faultOf(depend('checkout', 'c'), context, [depend('b', 'checkout')]).message).toContain(
      'Transitive dependency detected',
    );
    expect(
      checkedChanges(
        [depend('c', 'b'), onCheckout('deleteDependency', undefined, 'checkout')],
        aChangeContext(
          [
            inProduction({ dependencies: [normalizeDependency('b')] }),
            aFeature({ name: 'b' }),
            aFeature({ name: 'c' }),
          ],
          { children: new Map([['b', ['checkout']]]) },
        ),
      ),
    ).toHaveLength(2);
  });

  it('a strategy that the request deletes can be deleted again and moved before, but not updated', () => {
    const earlier = [onCheckout('deleteStrategy', { id: 's1' })];
    expect(checkedChange(onCheckout('deleteStrategy', { id: 's1' }), aChangeContext(), earlier).snapshot).toMatchObject(
      { id: 's1' },
    );
    const positions = [
      { id: 's1', sortOrder: 4 },
      { id: 's2', sortOrder: 3 },
    ];
    expect(checkedChange(onCheckout('reorderStrategy', positions), aChangeContext(), earlier)).toMatchObject({
      payload: positions,
      snapshot: [
        { id: 's1', sortOrder: 0 },
        { id: 's2', sortOrder: 1 },
      ],
    });
    expect(faultOf(onCheckout('updateStrategy', { id: 's1', title: 'x' }), aChangeContext(), earlier).kind).toBe(
      'NotFoundError',
    );
  });

  it('a change replaces the stored state, not that of earlier changes in the request', () => {
    const earlier = [onCheckout('updateStrategy', { id: 's1', title: 'Other', disabled: true })];
    expect(
      checkedChange(onCheckout('updateStrategy', { id: 's1', title: 'x' }), aChangeContext(), earlier).snapshot,
    ).toMatchObject({
      title: 'Half',
      disabled: false,
    });
  });

  it('a feature that the request archives can still be changed', () => {
    expect(
      checkedChange(onCheckout('updateEnabled', { enabled: true }), aChangeContext(), [onCheckout('archiveFeature')]),
    ).toBeDefined();
    expect(checkedChange(onCheckout('archiveFeature'), aChangeContext(), [onCheckout('archiveFeature')])).toBeDefined();
  });

  it('a segment can be deleted once no strategy uses it', () => {
    const remove = { action: 'deleteSegment', payload: { id: 4 } };
    const context = aChangeContext(undefined, {
      segmentReferrers: new Map([[4, [{ name: 'checkout', project: 'shop' }]]]),
    });
    const release = onCheckout('updateStrategy', { id: 's1', segments: [] });
    expect(faultOf(remove, context)).toMatchObject({ kind: 'ValidationError', path: '/body/0/payload/id' });
    expect(faultOf(remove, context).message).toContain('Segment beta is in use by checkout');
    expect(checkedChange(remove, context, [release])).toBeDefined();
    expect(checkedChanges([remove, release], context)).toHaveLength(2);
    expect(checkedChanges([remove, onCheckout('archiveFeature')], context)).toHaveLength(2);
    const others = aChangeContext(undefined, {
      segmentReferrers: new Map([[4, [{ name: 'other', project: 'shop' }]]]),
    });
    expect(faultOf(remove, others, [release]).message).toContain('in use by other');
    expect(checkedChange(remove, context, [release, remove])).toBeDefined();
  });

  it('a name of a segment can be used once', () => {
    const rename = (id: number, name: string) => ({ action: 'updateSegment', payload: { id, name } });
    const gamma = aSegment({ id: 6, name: 'gamma', project: 'shop' });
    const context = aChangeContext(undefined, {
      segments: new Map([
        [4, betaSegment],
        [6, gamma],
      ]),
      segmentsByName: new Map([
        ['taken', 9],
        ['beta', 4],
        ['gamma', 6],
      ]),
    });
    expect(faultOf(rename(4, 'taken'), context)).toMatchObject({
      kind: 'ValidationError',
      path: '/body/0/payload/name',
    });
    expect(faultOf(rename(4, 'gamma'), context).message).toContain('Segment name already exists');
    expect(faultOf(rename(4, 'new'), context, [rename(6, 'new')]).message).toContain('Segment name already exists');
    expect(checkedChange(rename(4, 'gamma'), context, [rename(6, 'delta')])).toBeDefined();
    expect(checkedChange(rename(4, 'beta'), context)).toBeDefined();
  });

  it('a segment stays in its project', () => {
    const move = (project: string | null) => ({ action: 'updateSegment', payload: { id: 4, project } });
    for (const project of [null, 'bank'])
      expect({ project, ...faultOf(move(project), aChangeContext()) }).toMatchObject({
        kind: 'ValidationError',
        path: '/body/0/payload/project',
      });
    expect(checkedChange(move('shop'), aChangeContext())).toBeDefined();
  });

  it('an earlier change with a conflict does not invalidate a new one', () => {
    const earlier = [
      onCheckout('updateStrategy', { id: 'gone', title: 'x' }),
      onCheckout('archiveFeature', undefined, 'gone'),
      { action: 'deleteSegment', payload: { id: 99 } },
    ];
    expect(checkedChange(onCheckout('updateEnabled', { enabled: true }), aChangeContext(), earlier)).toBeDefined();
  });

  it('the input is not modified', () => {
    const context = aChangeContext();
    const copy = structuredClone({
      features: context.features,
      segments: context.segments,
      segmentReferences: context.projectContext.segments,
    });
    checkedChanges(
      [
        onCheckout('archiveFeature'),
        onCheckout('addStrategy', strategyBody),
        { action: 'updateSegment', payload: { id: 4, name: 'brave' } },
      ],
      context,
    );
    expect({
      features: context.features,
      segments: context.segments,
      segmentReferences: context.projectContext.segments,
    }).toEqual(copy);
  });

  it('hundreds of changes are checked on top of hundreds', () => {
    const features = Array.from({ length: 500 }, (_, nth) => inProduction({ name: `f${nth}`, strategies: [] }));
    const changes = features.flatMap(({ name }) => [
      onCheckout('addStrategy', strategyBody, name),
      onCheckout('archiveFeature', undefined, name),
    ]);
    expect(checkedChanges(changes.slice(0, 200), aChangeContext(features), changes.slice(200, 400))).toHaveLength(200);
  });
});

describe('a change that is applied', () => {
  const applied = (change: Posted, about: FeatureAbout): [boolean, string[], string[]] => {
    const [parsed] = parseChanges([change]) as [Change];
    const feature = inProduction(about);
    const context = aChangeContext([feature]);
    const handler = featureActionHandlers[parsed.action as 'updateEnabled'];
    const { subject, events } = handler.decide(feature, parsed as Parameters<typeof handler.decide>[1], context, '');
    const production = subject.environments['production'];
    return [
      production?.enabled ?? false,
      (production?.strategies ?? []).map(({ id, disabled }) => (disabled ? `${id} (disabled)` : id)),
      events.map(({ type }) => type.replace('feature-', '')),
    ];
  };
  const enable = (shouldActivateDisabledStrategies?: boolean) =>
    onCheckout('updateEnabled', { enabled: true, shouldActivateDisabledStrategies });

  it.each<[string, Posted, FeatureAbout, ReturnType<typeof applied>]>([
    [
      'turns on with the default strategy',
      enable(),
      { strategies: [] },
      [true, ['made-1'], ['strategy-add', 'environment-enabled']],
    ],
    [
      'activates all when all are disabled',
      enable(true),
      { strategies: [disabledStrategy, { ...disabledStrategy, id: 's4' }] },
      [true, ['s3', 's4'], ['strategy-update', 'strategy-update', 'environment-enabled']],
    ],
    [
      'adds the default strategy when all are disabled',
      enable(false),
      { strategies: [disabledStrategy] },
      [true, ['s3 (disabled)', 'made-1'], ['strategy-add', 'environment-enabled']],
    ],
    [
      'does not activate where one is active',
      enable(true),
      { strategies: [rolloutStrategy, disabledStrategy] },
      [true, ['s1', 's3 (disabled)'], ['environment-enabled']],
    ],
    [
      'turns off',
      onCheckout('updateEnabled', { enabled: false }),
      { enabled: true },
      [false, ['s1', 's2'], ['environment-disabled']],
    ],
    [
      'emits nothing when it is off already',
      onCheckout('updateEnabled', { enabled: false }),
      {},
      [false, ['s1', 's2'], []],
    ],
    [
      'removes the only strategy, and leaves the switch to the end',
      onCheckout('deleteStrategy', { id: 's1' }),
      { strategies: [rolloutStrategy], enabled: true },
      [true, [], ['strategy-remove']],
    ],
    ['removes nothing where nothing is', onCheckout('deleteStrategy', { id: 'x' }), {}, [false, ['s1', 's2'], []]],
    [
      'disables the only strategy, and leaves the switch to the end',
      onCheckout('updateStrategy', { id: 's1', disabled: true }),
      { strategies: [rolloutStrategy], enabled: true },
      [true, ['s1 (disabled)'], ['strategy-update']],
    ],
    [
      'moves strategies',
      onCheckout('reorderStrategy', [{ id: 's2', sortOrder: -1 }]),
      {},
      [false, ['s2', 's1'], ['strategy-order-changed']],
    ],
    [
      'moves nothing to where it is',
      onCheckout('reorderStrategy', [{ id: 's2', sortOrder: 1 }]),
      {},
      [false, ['s1', 's2'], []],
    ],
  ])('%s', (_, change, about, expected) => {
    expect(applied(change, about)).toEqual(expected);
  });

  it('keeps omitted properties of a strategy', () => {
    const [change] = parseChanges([onCheckout('updateStrategy', { id: 's1', title: 'All', disabled: null })]) as [
      Change,
    ];
    const feature = inProduction();
    const { subject } = featureActionHandlers.updateStrategy.decide(
      feature,
      change as Parameters<typeof featureActionHandlers.updateStrategy.decide>[1],
      aChangeContext([feature]),
      '',
    );
    expect(subject.environments['production']?.strategies[0]).toEqual({ ...rolloutStrategy, title: 'All' });
  });
});

const changes: Change[] = [
  { action: 'updateEnabled', feature: 'cart', payload: { enabled: true } },
  { action: 'addDependency', feature: 'cart', payload: { feature: 'checkout' } },
  { action: 'archiveFeature', feature: 'search', payload: {} },
  { action: 'updateSegment', payload: { id: 4, name: 'beta' } },
  { action: 'deleteSegment', payload: { id: 4 } },
];

it('changes edit the features and segments that they name, and not those that they refer to, each once', () => {
  expect(featureNamesOf(changes)).toEqual(['cart', 'search']);
  expect(segmentIdsOf(changes)).toEqual([4]);
});
