import { parseChange } from '@bunting/contracts/validation';
import { describe, expect, it } from 'vitest';
import { aChange } from '../../test/builders.ts';
import { earlierChangesForCheck } from './proposed-change.ts';

const enabled = { action: 'updateEnabled', payload: { enabled: true } } as const;
const earlier = [
  aChange({ id: 1, ...enabled, feature: 'checkout' }),
  aChange({ id: 2, ...enabled, feature: 'banner' }),
  aChange({ id: 3, action: 'addDependency', feature: 'banner', payload: { feature: 'parent' } }),
  aChange({ id: 4, action: 'archiveFeature', feature: 'old' }),
  aChange({ id: 5, action: 'addStrategy', feature: 'parent' }),
  aChange({ id: 6, action: 'updateSegment', segment: { id: 4, name: 'beta' }, payload: { id: 4 } }),
];
function idsOn(change: object) {
  return earlierChangesForCheck([parseChange(change, '/body')], earlier).map(({ id }) => id);
}

describe('the earlier changes that a newer one is checked on top of', () => {
  it.each([
    ['its own feature, and the segments', { ...enabled, feature: 'checkout' }, [1, 6]],
    ['nothing else of a feature that is new to the request', { ...enabled, feature: 'new' }, [6]],
    [
      'every change of dependencies, when it changes some',
      { action: 'archiveFeature', feature: 'checkout' },
      [1, 3, 4, 6],
    ],
    [
      'the parent that it names',
      { action: 'addDependency', feature: 'checkout', payload: { feature: 'parent' } },
      [1, 3, 4, 5, 6],
    ],
    ['the segments, when it updates one', { action: 'updateSegment', payload: { id: 5, name: 'x' } }, [6]],
    ['everything, when it deletes a segment', { action: 'deleteSegment', payload: { id: 5 } }, [1, 2, 3, 4, 5, 6]],
  ] as const)('are only those that can affect it: %s', (_, change, ids) => {
    expect(idsOn(change)).toEqual(ids);
  });

  it('do not grow with the number of features in the request', () => {
    const many = Array.from({ length: 499 }, (_, nth) => aChange({ id: nth, ...enabled, feature: `flag-${nth}` }));
    expect(earlierChangesForCheck([parseChange({ ...enabled, feature: 'flag-7' }, '/body')], many)).toHaveLength(1);
  });
});
