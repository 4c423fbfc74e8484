import { describe, expect, it } from '@jest/globals';
import { commonRangeOf, differingGroups, differingIds } from './compare-versions.ts';

const versions = (...ids: readonly string[]) => ids.map((id) => ({ id, version: 1 }));

describe('a reconciliation', () => {
  it('compares two full pages up to the smaller of their last ids', () => {
    expect(commonRangeOf(versions('a', 'b'), versions('a', 'c'), 2)).toEqual({
      expected: versions('a', 'b'),
      actual: versions('a'),
      end: 'b',
    });
  });

  it('compares the last page of one side only as far as the full page of the other', () => {
    expect(commonRangeOf(versions('a', 'z'), versions('a', 'b', 'c'), 3)).toEqual({
      expected: versions('a'),
      actual: versions('a', 'b', 'c'),
      end: 'c',
    });
  });

  it('compares two last pages as a whole', () => {
    expect(commonRangeOf(versions('a', 'z'), versions('b'), 3)).toEqual({
      expected: versions('a', 'z'),
      actual: versions('b'),
      end: undefined,
    });
  });

  it('orders ids by their bytes, as the databases do', () => {
    expect(commonRangeOf(versions('\uff5e'), versions('😀'), 1)).toMatchObject({ end: '\uff5e', actual: [] });
  });

  it('finds ids that one side lacks, and ids in another version', () => {
    const expected = [...versions('same', 'only-in-features'), { id: 'changed', version: 2 }];
    const actual = versions('same', 'only-in-search', 'changed');
    expect(differingIds(expected, actual).toSorted()).toEqual(['changed', 'only-in-features', 'only-in-search']);
  });

  it('finds projects with another digest, or that only one side has features of', () => {
    const digest = (group: string, count = 1, text = 'x') => ({ group, count, digest: text });
    const expected = [digest('same'), digest('changed'), digest('added'), digest('empty', 0)];
    const actual = [digest('same'), digest('changed', 1, 'y'), digest('removed')];
    expect(differingGroups(expected, actual).toSorted()).toEqual(['added', 'changed', 'removed']);
  });
});
