import { parseChanges } from '@bunting/contracts/validation';
import { describe, expect, it } from 'vitest';
import {
  aChangeContext,
  defaultStrategy,
  disabledStrategy,
  inProduction,
  onCheckout,
  rolloutStrategy,
  type Posted,
} from '../../test/checked-changes.ts';
import { previewChanges, diffJson } from './preview-changes.ts';
import type { ChangeContext } from './change-context.ts';

const preview = (posted: readonly Posted[], context: ChangeContext = aChangeContext(), withStates = true) =>
  previewChanges(
    parseChanges(posted).map((change, index) => ({ id: index + 1, change, snapshot: null })),
    context,
    withStates,
  );
const enable = onCheckout('updateEnabled', { enabled: true });
const rename = { action: 'updateSegment', payload: { id: 4, name: 'brave' } };

describe('a preview of a change request', () => {
  it('shows each feature before and after all of its changes, and what differs', () => {
    const { features, applicable } = preview([enable, onCheckout('updateStrategy', { id: 's1', title: 'All' })]);
    expect(applicable).toBe(true);
    expect(features).toMatchObject([
      {
        name: 'checkout',
        before: { enabled: false, strategies: { s1: { title: 'Half' }, s2: { title: null } } },
        after: { enabled: true, strategies: { s1: { title: 'All' }, s2: { title: null } } },
        changes: [
          { id: 1, action: 'updateEnabled' },
          { id: 2, action: 'updateStrategy' },
        ],
      },
    ]);
    expect(features[0]?.diff).toEqual([
      { path: '/enabled', before: false, after: true },
      { path: '/strategies/s1/title', before: 'Half', after: 'All' },
    ]);
  });

  it('shows a strategy that moves by its sort order alone', () => {
    const { features } = preview([onCheckout('reorderStrategy', [{ id: 's1', sortOrder: 9 }])]);
    expect(features[0]?.diff).toEqual([{ path: '/strategies/s1/sortOrder', before: 0, after: 9 }]);
  });

  it('shows a segment before and after, and a deleted one as gone', () => {
    const [renamed] = preview([rename]).segments;
    expect(renamed).toMatchObject({ id: 4, name: 'beta', diff: [{ path: '/name', before: 'beta', after: 'brave' }] });
    const [deleted] = preview([{ action: 'deleteSegment', payload: { id: 4 } }], aChangeContext([])).segments;
    expect(deleted).toMatchObject({ before: { name: 'beta' }, after: null });
  });

  it('leaves the states out if only the conflicts are requested', () => {
    const { features, segments } = preview([enable, rename], aChangeContext(), false);
    expect([...features, ...segments]).toMatchObject([
      { before: null, after: null, diff: [] },
      { before: null, after: null, diff: [] },
    ]);
  });

  it('names the conflict at its change, and the request cannot be applied', () => {
    const { features, applicable } = preview([enable, onCheckout('updateStrategy', { id: 'gone', title: 'x' })]);
    expect(applicable).toBe(false);
    expect(features[0]?.changes).toEqual([
      { id: 1, action: 'updateEnabled' },
      { id: 2, action: 'updateStrategy', conflict: 'Strategy has been deleted', conflictCode: 'strategy-deleted' },
    ]);
    expect(features[0]).not.toHaveProperty('conflict');
  });

  it('names the conflict of a whole feature once, and shows the state of a deleted feature as gone', () => {
    expect(preview([enable], aChangeContext([])).features).toEqual([
      {
        name: 'checkout',
        conflict: 'Feature has been deleted',
        conflictCode: 'feature-deleted',
        before: null,
        after: null,
        diff: [],
        changes: [{ id: 1, action: 'updateEnabled' }],
      },
    ]);
  });

  it('names newer edits that a change would overwrite, and the request can be applied all the same', () => {
    const [change] = parseChanges([onCheckout('updateStrategy', { id: 's1', title: 'Mine' })]);
    if (change === undefined) throw new Error('There is no change.');
    const requested = { id: 1, change, snapshot: { ...rolloutStrategy, title: 'Old' } };
    const { features, applicable } = previewChanges([requested], aChangeContext(), false);
    expect(applicable).toBe(true);
    expect(features[0]?.changes[0]?.overwrites).toEqual([
      { property: 'title', snapshot: 'Old', current: 'Half', proposed: 'Mine' },
    ]);
  });
});

describe('the change that a request implies', () => {
  const impliedBy = (posted: readonly Posted[], context: ChangeContext) =>
    preview(posted, context).features[0]?.defaultChange;

  it.each([
    ['has no strategy', []],
    ['has disabled strategies only', [disabledStrategy]],
  ])('is to add the default strategy, if an enabled feature %s', (_, strategies) => {
    expect(impliedBy([enable], aChangeContext([inProduction({ strategies })]))).toEqual({
      action: 'addStrategy',
      payload: {
        name: 'flexibleRollout',
        title: null,
        disabled: false,
        constraints: [],
        parameters: { rollout: '100', stickiness: 'default', groupId: 'checkout' },
        variants: [],
        segments: [],
      },
    });
  });

  it('is to disable the feature, if an enabled feature loses its last active strategy', () => {
    const context = aChangeContext([inProduction({ enabled: true, strategies: [defaultStrategy, disabledStrategy] })]);
    expect(impliedBy([onCheckout('deleteStrategy', { id: 's2' })], context)).toEqual({
      action: 'updateEnabled',
      payload: { enabled: false },
    });
  });

  it.each<[string, readonly Posted[], ChangeContext]>([
    ['the feature has an active strategy', [enable], aChangeContext()],
    [
      'the request activates its disabled strategies',
      [onCheckout('updateEnabled', { enabled: true, shouldActivateDisabledStrategies: true })],
      aChangeContext([inProduction({ strategies: [disabledStrategy] })]),
    ],
    [
      'the request archives the feature',
      [enable, onCheckout('archiveFeature')],
      aChangeContext([inProduction({ strategies: [] })]),
    ],
  ])('does not exist where %s', (_, posted, context) => {
    expect(impliedBy(posted, context)).toBeUndefined();
  });
});

describe('the difference of two states', () => {
  it('is a list of JSON pointers, in which a list changes as a whole', () => {
    expect(diffJson({ a: { 'x/y~z': 1 }, b: [1, 2] }, { a: { 'x/y~z': 2 }, b: [1] })).toEqual([
      { path: '/a/x~1y~0z', before: 1, after: 2 },
      { path: '/b', before: [1, 2], after: [1] },
    ]);
  });

  it('has members that one of them lacks', () => {
    expect(diffJson({ gone: 1 }, { constructor: 2 })).toEqual([
      { path: '/gone', before: 1, after: undefined },
      { path: '/constructor', before: undefined, after: 2 },
    ]);
  });
});
