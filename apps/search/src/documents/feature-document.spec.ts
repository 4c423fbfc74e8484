import { describe, expect, it } from 'vitest';
import { commonRangeOf } from './feature-document.ts';

function page(...ids: readonly string[]) {
  return ids.map((id) => ({ id }));
}

describe('a reconciliation', () => {
  it('compares two full pages up to the smaller of their last ids', () =>
    expect(commonRangeOf([page('a', 'b'), page('a', 'c')], 2)).toEqual({ ids: ['a', 'b'], end: 'b' }));

  it('compares the last page of one side only as far as the full page of the other', () =>
    expect(commonRangeOf([page('a', 'z'), page('a', 'b', 'c')], 3)).toEqual({ ids: ['a', 'b', 'c'], end: 'c' }));

  it('compares two last pages as a whole', () =>
    expect(commonRangeOf([page('a', 'z'), page('b')], 3)).toEqual({ ids: ['a', 'b', 'z'], end: undefined }));

  it('orders ids by their bytes, as the databases do', () =>
    expect(commonRangeOf([page('\uff5e'), page('😀')], 1)).toEqual({ ids: ['\uff5e'], end: '\uff5e' }));
});
