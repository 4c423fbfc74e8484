import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  allIds,
  beginLength,
  blockLength,
  idsIn,
  intersect,
  ones,
  postingOf,
  removeUpTo,
  subtract,
} from './postings.ts';

/** The rows of something that occurs in events of these ids, in any order. */
const rowsOf = (ids: readonly number[]): string => {
  const rows = new Map<number, string>();
  for (const [block, within] of Map.groupBy(ids, (id) => Math.floor(id / blockLength))) {
    const offsets = within.map((id) => id % blockLength);
    const { seq, data } = postingOf(block, offsets);
    const known = rows.get(seq);
    rows.set(seq, known === undefined ? data : known + data.slice(beginLength * (seq % 2)));
  }
  return [...rows.values()].reverse().join('');
};
const listed = (ids: Uint32Array): number[] => {
  const found: number[] = [];
  for (const [nth, word] of ids.entries()) {
    for (let bit = 0; word !== 0 && bit < 32; bit++) if ((word >>> bit) & 1) found.push(nth * 32 + bit);
  }
  return found;
};

const bound = 700 * blockLength;
const someIds = fc
  .tuple(
    fc.array(fc.nat({ max: bound - 1 }), { maxLength: 30 }),
    fc.nat({ max: 690 * blockLength }),
    fc.integer({ min: 0, max: 3_000 }),
    fc.integer({ min: 1, max: 700 }),
  )
  .map(([single, from, length, step]) =>
    [...new Set([...single, ...Array.from({ length }, (_, nth) => from + nth * step)])]
      .filter((id) => id < bound)
      .toSorted((one, other) => one - other),
  );

describe('Postings', () => {
  it('are read as they were written, rare or frequent', () => {
    fc.assert(
      fc.property(someIds, (ids) => {
        expect(listed(idsIn(rowsOf(ids), bound))).toEqual(ids);
      }),
      { numRuns: 60, seed: 1 },
    );
  });

  it('of several things are read at once', () => {
    fc.assert(
      fc.property(someIds, someIds, (some, others) => {
        const together = new Set([...some, ...others]);
        expect(new Set(listed(idsIn(rowsOf(some) + rowsOf(others), bound)))).toEqual(together);
      }),
      { numRuns: 30, seed: 2 },
    );
  });

  it('of a stretch without a gap are as short as those of a single event, and cost no more to write', () => {
    const all = Array.from({ length: blockLength }, (_, nth) => nth);
    expect(postingOf(3, all).data).toHaveLength(2 * beginLength);
    for (const [from, to] of [
      [0, 2_048],
      [5, 30],
      [31, 64],
      [64, 96],
      [100, 2_047],
    ] as const) {
      const ids = all.slice(from, to).map((offset) => 3 * blockLength + offset);
      expect(listed(idsIn(rowsOf(ids), 4 * blockLength))).toEqual(ids);
      expect(listed(idsIn(rowsOf(ids), 3 * blockLength))).toEqual([]);
    }
  });

  it('hold nothing beyond the bound, and nothing when there are none', () => {
    expect(listed(idsIn(rowsOf([1, 31, 32, 5_000]), 32))).toEqual([1, 31]);
    expect(listed(idsIn(null, 64))).toEqual([]);
  });

  it('are intersected, subtracted and shortened', () => {
    const ids = idsIn(rowsOf([3, 64, 65, 200, 4_000]), blockLength * 2);
    intersect(ids, idsIn(rowsOf([3, 65, 200, 300, 4_000]), blockLength * 2));
    expect(listed(ids)).toEqual([3, 65, 200, 4_000]);
    const others = allIds(blockLength * 2);
    subtract(others, ids);
    expect(listed(others)).toHaveLength(blockLength * 2 - 4);
    expect(listed(others).slice(0, 4)).toEqual([0, 1, 2, 4]);
    for (const [upTo, left] of [
      [2, [3, 65, 200, 4_000]],
      [3, [65, 200, 4_000]],
      [63, [65, 200, 4_000]],
      [199, [200, 4_000]],
      [9_999, []],
    ] as const) {
      const shortened = Uint32Array.from(ids);
      removeUpTo(shortened, upTo);
      expect(listed(shortened)).toEqual(left);
    }
  });

  it('count every bit of a word', () => {
    expect([0, 1, 0x80000001, 0xffffffff, -1].map(ones)).toEqual([0, 1, 2, 32, 32]);
  });
});
