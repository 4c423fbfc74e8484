import { describe, expect, it } from 'vitest';
import { moveItem } from './move-item.ts';

describe('an item that is moved in a list', () => {
  it('stands before or after the item that it was dropped at', () => {
    expect(moveItem(['a', 'b', 'c'], 'c', 'before', 'a')).toEqual(['c', 'a', 'b']);
    expect(moveItem(['a', 'b', 'c'], 'a', 'after', 'b')).toEqual(['b', 'a', 'c']);
    expect(moveItem(['a', 'b', 'c'], 'a', 'after', 'c')).toEqual(['b', 'c', 'a']);
  });

  it('stays where it is when it is dropped at itself, or at what is not in the list', () => {
    expect(moveItem(['a', 'b'], 'a', 'after', 'a')).toEqual(['a', 'b']);
    expect(moveItem(['a', 'b'], 'x', 'after', 'a')).toEqual(['a', 'b']);
    expect(moveItem(['a', 'b'], 'a', 'before', 'x')).toEqual(['a', 'b']);
  });
});
