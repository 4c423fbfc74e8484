import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { blockLength, idsIn, intersect, ones, postingOf, removeUpTo } from './postings.ts';

const rowsOf = (ids: readonly number[]): Buffer =>
  Buffer.concat(
    [...Map.groupBy(ids, (id) => Math.floor(id / blockLength))].map(([block, within]) => {
      const { seq, data } = postingOf(
        block,
        within.map((id) => id % blockLength),
      );
      const head = Buffer.alloc(12);
      head.writeBigInt64BE(BigInt(seq), 0);
      head.writeInt32BE(data.length, 8);
      return Buffer.concat([head, data]);
    }),
  );
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
  )
  .map(([single, from, length]) =>
    [...new Set([...single, ...Array.from({ length }, (_, nth) => from + nth)])].toSorted((one, other) => one - other),
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

  it('hold nothing beyond the bound, and nothing when there are none', () => {
    expect(listed(idsIn(rowsOf([1, 31, 32, 5_000]), 32))).toEqual([1, 31]);
    expect(listed(idsIn(null, 64))).toEqual([]);
  });

  it('are intersected and shortened', () => {
    const ids = idsIn(rowsOf([3, 64, 65, 200, 4_000]), blockLength * 2);
    intersect(ids, idsIn(rowsOf([3, 65, 200, 300, 4_000]), blockLength * 2));
    expect(listed(ids)).toEqual([3, 65, 200, 4_000]);
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
