import { describe, expect, it } from '@jest/globals';
import { matchesIn, stretchesBefore, stretchLength, withLater } from './stretches.ts';

const found = (upTo: number, ...counted: readonly (readonly [stretch: number, count: number])[]) => ({
  upTo,
  uid: `uid of ${upTo}`,
  droppedId: 0,
  stretches: counted.map(([stretch]) => stretch),
  counts: counted.map(([, count]) => count),
});

describe('Known matches', () => {
  const known = matchesIn(found(300, [0, 3], [2, 5], [4, 1]));

  it('add up to their total', () => {
    expect(known).toMatchObject({ upTo: 300, total: 9 });
  });

  it('grow by what came later, in the last stretch that was known as well', () => {
    expect(withLater(known, found(400, [4, 2], [6, 7]))).toEqual({
      ...found(400, [0, 3], [2, 5], [4, 3], [6, 7]),
      total: 18,
    });
    expect(withLater(known, found(400, [5, 2]))).toEqual({ ...found(400, [0, 3], [2, 5], [4, 1], [5, 2]), total: 11 });
  });

  it('stay what they are when nothing came later, but for how far they reach', () => {
    expect(withLater(known, found(400))).toEqual({ ...known, upTo: 400, uid: 'uid of 400' });
  });

  it('are looked for in as many stretches as a page needs, the newest first', () => {
    const end = 5 * stretchLength;
    expect(stretchesBefore(known, end, 1).stretches).toEqual([4]);
    expect(stretchesBefore(known, end, 2).stretches).toEqual([4, 2]);
    expect(stretchesBefore(known, end, 6).stretches).toEqual([4, 2]);
    expect(stretchesBefore(known, end, 7).stretches).toEqual([4, 2, 0]);
    expect(stretchesBefore(known, end, 100).stretches).toEqual([4, 2, 0]);
  });

  it('do not rely on a stretch of which a part lies beyond the beginning of the page', () => {
    expect(stretchesBefore(known, 2 * stretchLength, 1).stretches).toEqual([2, 0]);
    expect(stretchesBefore(known, 2 * stretchLength - 1, 1).stretches).toEqual([0]);
    expect(stretchesBefore(known, 0, 1).stretches).toEqual([0]);
  });

  it('are left out in whole stretches as long as they go, and the rest of them later', () => {
    const at = (skip: number, limit = 1) => stretchesBefore(known, 300, limit, skip);
    expect(at(0)).toEqual({ stretches: [4], left: 0 });
    expect(at(1)).toEqual({ stretches: [2], left: 0 });
    expect(at(5)).toEqual({ stretches: [2], left: 4 });
    expect(at(5, 2)).toEqual({ stretches: [2, 0], left: 4 });
    expect(at(6)).toEqual({ stretches: [0], left: 0 });
    expect(at(9)).toEqual({ stretches: [], left: 0 });
  });

  it('are nowhere when there are none', () => {
    expect(stretchesBefore(matchesIn(found(300)), 300, 10).stretches).toEqual([]);
  });
});
