import type { CheckedChange } from '@bunting/contracts';
import { describe, expect, it } from 'vitest';
import { aChange, aCheckedChange, noon } from '../../test/builders.ts';
import type { ProposedChange } from '../requests/change-request.ts';
import { mergeChange, orderOfApplication, requireMergeable } from './merge-change.ts';
import { toProposedChange } from './proposed-change.ts';

const beta = { id: 4, name: 'beta' };

/** What comes of a change that is added, as change 9, to those that a request holds. */
function merged(earlier: readonly ProposedChange[], newer: CheckedChange) {
  const createdBy = { id: 7, name: 'mia' };
  return mergeChange(earlier, toProposedChange(newer, { id: 9, position: 9, createdBy, createdAt: noon }));
}

describe('a change that is added to others', () => {
  it.each<[string, CheckedChange, CheckedChange]>([
    [
      'updateEnabled, updateEnabled of the feature',
      aCheckedChange({ action: 'updateEnabled', payload: { enabled: true } }),
      aCheckedChange({ action: 'updateEnabled', payload: { enabled: false } }),
    ],
    [
      'patchVariant, patchVariant of the feature',
      aCheckedChange({ action: 'patchVariant', payload: { variants: [{ name: 'a' }] }, snapshot: [] }),
      aCheckedChange({ action: 'patchVariant', payload: { variants: [] }, snapshot: [] }),
    ],
    [
      'reorderStrategy, reorderStrategy of the feature',
      aCheckedChange({ action: 'reorderStrategy', payload: [{ id: 's1', sortOrder: 1 }] }),
      aCheckedChange({ action: 'reorderStrategy', payload: [{ id: 's1', sortOrder: 2 }] }),
    ],
    [
      'addDependency, addDependency of the feature',
      aCheckedChange({ action: 'addDependency', payload: { feature: 'a' } }),
      aCheckedChange({ action: 'addDependency', payload: { feature: 'b' } }),
    ],
    [
      'deleteDependency, addDependency of the feature',
      aCheckedChange({ action: 'deleteDependency' }),
      aCheckedChange({ action: 'addDependency', payload: { feature: 'b' } }),
    ],
    [
      'addDependency, deleteDependency of the feature',
      aCheckedChange({ action: 'addDependency', payload: { feature: 'a' } }),
      aCheckedChange({ action: 'deleteDependency' }),
    ],
    [
      'deleteDependency, deleteDependency of the feature',
      aCheckedChange({ action: 'deleteDependency' }),
      aCheckedChange({ action: 'deleteDependency' }),
    ],
    [
      'updateSegment, updateSegment of the segment',
      aCheckedChange({ action: 'updateSegment', segment: beta, payload: { id: 4, name: 'new' } }),
      aCheckedChange({ action: 'updateSegment', segment: beta, payload: { id: 4, constraints: [] } }),
    ],
  ])('takes the place and the id of the one it replaces: %s', (_, first, second) => {
    const neighbours = [aChange({ id: 1, action: 'addStrategy' }), aChange({ id: 3, action: 'addStrategy' })] as const;
    const old = aChange({ id: 2, ...first });
    const { changes, steps } = merged([neighbours[0], old, neighbours[1]], second);
    const edited = { ...old, action: second.action, payload: second.payload };
    expect(changes).toEqual([neighbours[0], edited, neighbours[1]]);
    expect(steps).toEqual([{ kind: 'edited', change: edited, before: old }]);
  });

  it('keeps the snapshot of the first change that it replaces', () => {
    const old = aChange({ action: 'patchVariant', payload: { variants: [] }, snapshot: ['first'] });
    const { changes } = merged([old], aCheckedChange({ action: 'patchVariant', snapshot: ['second'] }));
    expect(changes).toMatchObject([{ snapshot: ['first'] }]);
  });

  it('updates a strategy property by property: the newer value wins, and unnamed properties stay', () => {
    const old = aChange({
      action: 'updateStrategy',
      payload: { id: 's1', title: 'a', disabled: true },
      snapshot: { title: 'was' },
    });
    const { changes, steps } = merged(
      [old],
      aCheckedChange({
        action: 'updateStrategy',
        payload: { id: 's1', title: null, sortOrder: 2 },
        snapshot: { title: 'is' },
      }),
    );
    const payload = { id: 's1', title: null, disabled: true, sortOrder: 2 };
    expect(changes).toEqual([{ ...old, payload }]);
    expect(steps).toMatchObject([{ kind: 'edited', change: { payload }, before: { payload: old.payload } }]);
  });

  it('updates the parameters of a strategy one by one, as long as its type stays', () => {
    const old = aChange({
      action: 'updateStrategy',
      payload: { id: 's1', parameters: { rollout: '10', groupId: 'g' } },
      snapshot: { name: 'flexibleRollout' },
    });
    const parametersAfter = (payload: object) =>
      merged([old], aCheckedChange({ action: 'updateStrategy', payload: { id: 's1', ...payload } })).changes[0]
        ?.payload;
    expect(parametersAfter({ parameters: { rollout: '20' } })).toMatchObject({
      parameters: { rollout: '20', groupId: 'g' },
    });
    expect(parametersAfter({ name: 'remoteAddress', parameters: { IPs: '::1' } })).toEqual({
      id: 's1',
      name: 'remoteAddress',
      parameters: { IPs: '::1' },
    });
  });

  it('drops earlier updates of the strategy that it deletes', () => {
    const update = aChange({ id: 1, action: 'updateStrategy', payload: { id: 's1', title: 'a' } });
    const { changes, steps } = merged([update], aCheckedChange({ action: 'deleteStrategy', payload: { id: 's1' } }));
    expect(changes).toMatchObject([{ id: 9, action: 'deleteStrategy' }]);
    expect(steps).toMatchObject([
      { kind: 'discarded', change: update },
      { kind: 'added', change: { id: 9, action: 'deleteStrategy' } },
    ]);
  });

  it('drops earlier updates of the segment that it deletes', () => {
    const update = aChange({ id: 1, action: 'updateSegment', segment: beta, payload: { id: 4, name: 'new' } });
    const { changes } = merged(
      [update],
      aCheckedChange({ action: 'deleteSegment', segment: beta, payload: { id: 4 } }),
    );
    expect(changes).toMatchObject([{ id: 9, action: 'deleteSegment' }]);
  });

  it.each<[string, CheckedChange]>([
    ['archive the feature', aCheckedChange({ action: 'archiveFeature' })],
    ['delete the strategy', aCheckedChange({ action: 'deleteStrategy', payload: { id: 's1' } })],
    ['delete the segment', aCheckedChange({ action: 'deleteSegment', segment: beta, payload: { id: 4 } })],
  ])('is a duplicate when the request is to %s already', (_, change) => {
    const earlier = [aChange(change)];
    expect(merged(earlier, change)).toEqual({ changes: earlier, steps: [] });
  });

  it.each<[string, CheckedChange, CheckedChange]>([
    [
      'two new strategies',
      aCheckedChange({ action: 'addStrategy', payload: { name: 'default' } }),
      aCheckedChange({ action: 'addStrategy', payload: { name: 'default' } }),
    ],
    [
      'two strategies',
      aCheckedChange({ action: 'updateStrategy', payload: { id: 's1' } }),
      aCheckedChange({ action: 'updateStrategy', payload: { id: 's2' } }),
    ],
    [
      'two features',
      aCheckedChange({ action: 'updateEnabled', feature: 'checkout' }),
      aCheckedChange({ action: 'updateEnabled', feature: 'banner' }),
    ],
    [
      'two segments',
      aCheckedChange({ action: 'updateSegment', segment: beta, payload: { id: 4 } }),
      aCheckedChange({ action: 'updateSegment', segment: { id: 5, name: 'gamma' }, payload: { id: 5 } }),
    ],
    [
      'a feature that is archived, and what is done to it',
      aCheckedChange({ action: 'archiveFeature' }),
      aCheckedChange({ action: 'updateEnabled' }),
    ],
  ])('is kept beside others: %s', (_, first, second) => {
    const earlier = aChange({ id: 1, ...first });
    const { changes, steps } = merged([earlier], second);
    expect(changes).toMatchObject([{ id: 1 }, { id: 9, ...second }]);
    expect(steps).toMatchObject([{ kind: 'added', change: { id: 9 } }]);
  });
});

describe('an update of what an earlier change deletes', () => {
  const at = (nth: number): string => `/body/${nth}`;
  const deleteStrategy = { action: 'deleteStrategy', feature: 'checkout', payload: { id: 's1' } } as const;
  const updateStrategy = { action: 'updateStrategy', feature: 'checkout', payload: { id: 's1' } } as const;

  it('is refused, and the update is named', () => {
    expect(() => requireMergeable([deleteStrategy], [updateStrategy], at)).toThrow(
      'Strategy is deleted by this change request: the `/body/0/payload/id` property names it.',
    );
  });

  it('is refused within one body too', () => {
    expect(() => requireMergeable([], [deleteStrategy, updateStrategy], at)).toThrow('`/body/1/payload/id`');
  });

  it('is refused for a segment', () => {
    const newer = [
      { action: 'deleteSegment', payload: { id: 4 } },
      { action: 'updateSegment', payload: { id: 4 } },
    ] as const;
    expect(() => requireMergeable([], newer, at)).toThrow(/^Segment is deleted by this change request/);
  });

  it('is no obstacle to an update of another', () => {
    expect(() => requireMergeable([deleteStrategy], [{ ...updateStrategy, payload: { id: 's2' } }], at)).not.toThrow();
  });
});

describe('the order of application', () => {
  const rename = (id: number) => ({ action: 'updateSegment', payload: { id } }) as const;
  const update = (id: string) => ({ action: 'updateStrategy', feature: 'checkout', payload: { id } }) as const;
  const remove = (id: string) => ({ action: 'deleteStrategy', feature: 'checkout', payload: { id } }) as const;

  it.each([
    ['appends a change of another subject', [rename(3)], [rename(4)], [0, 1]],
    ['has a change in the place of the one that it replaces', [rename(3), rename(4)], [rename(3)], [2, 1]],
    ['has a change after the one that it is merged into', [update('a'), update('b')], [update('a')], [0, 2, 1]],
    ['has both newer ones in the place of the older one', [rename(3), rename(4)], [rename(3), rename(3)], [2, 3, 1]],
    ['follows the order of the newer ones', [], [rename(3), rename(4), rename(3)], [0, 2, 1]],
    [
      'appends a deletion, and omits the update of the deleted object',
      [update('a'), update('b')],
      [remove('a')],
      [1, 2],
    ],
  ])('%s', (_, earlier, newer, order) => {
    expect(orderOfApplication(earlier, newer)).toEqual(order);
  });
});

describe('a change for a feature that has got the name of a deleted one', () => {
  const [before, now] = ['2026-11-20T12:00:00.000Z', '2026-11-21T12:00:00.000Z'];

  it.each<[string, CheckedChange]>([
    ['archiveFeature', aCheckedChange({ action: 'archiveFeature', featureCreatedAt: now })],
    ['updateEnabled', aCheckedChange({ action: 'updateEnabled', featureCreatedAt: now, snapshot: { enabled: true } })],
  ])('takes the place of the one for the deleted feature: %s', (_, newer) => {
    const existing = aChange({ action: newer.action, featureCreatedAt: before, snapshot: { enabled: false } });
    const { changes, steps } = merged([existing], newer);
    expect(changes).toMatchObject([{ id: existing.id, featureCreatedAt: now, snapshot: newer.snapshot }]);
    expect(steps).toHaveLength(1);
  });
});
