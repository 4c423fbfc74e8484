import { describe, expect, it } from '@jest/globals';
import { moved } from './moved.ts';

describe('an item that is moved in a list', () => {
  it('stands before or after the item that it was dropped at', () => {
    expect(moved(['a', 'b', 'c'], 'c', 'before', 'a')).toEqual(['c', 'a', 'b']);
    expect(moved(['a', 'b', 'c'], 'a', 'after', 'b')).toEqual(['b', 'a', 'c']);
    expect(moved(['a', 'b', 'c'], 'a', 'after', 'c')).toEqual(['b', 'c', 'a']);
  });

  it('stays where it is when it is dropped at itself, or at what is not in the list', () => {
    expect(moved(['a', 'b'], 'a', 'after', 'a')).toEqual(['a', 'b']);
    expect(moved(['a', 'b'], 'x', 'after', 'a')).toEqual(['a', 'b']);
    expect(moved(['a', 'b'], 'a', 'before', 'x')).toEqual(['a', 'b']);
  });
});
