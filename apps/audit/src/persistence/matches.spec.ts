import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Found, idsBefore, matchesIn, withLater, wordLength } from './matches.ts';

/** What a look up to an id found. */
const foundIn = (ids: readonly number[], upTo: number): Found => {
  const words = [...Map.groupBy(ids, (id) => Math.floor(id / wordLength))];
  return {
    upTo,
    uid: `uid of ${upTo}`,
    droppedId: 0,
    words: words.map(([word]) => word),
    bits: words.map(([, within]) => within.reduce((bits, id) => bits | (1 << (id % wordLength)), 0)),
  };
};
const nothing = new Uint32Array();
const all = Number.MAX_SAFE_INTEGER;
const someIds = fc
  .array(fc.oneof(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 1, max: 100_000 })), { maxLength: 120 })
  .map((ids) => [...new Set(ids)].toSorted((one, other) => one - other));

describe('Known matches', () => {
  it('are listed from any id on and after any number of others, the newest first', () => {
    const places = {
      from: fc.nat({ max: 110_000 }),
      limit: fc.integer({ min: 1, max: 150 }),
      skip: fc.nat({ max: 130 }),
    };
    fc.assert(
      fc.property(someIds, fc.record(places), (ids, { from, limit, skip }) => {
        const known = matchesIn(nothing, foundIn(ids, 100_000));
        expect(known.total).toBe(ids.length);
        const listed = ids.filter((id) => id <= from).toReversed();
        expect(idsBefore(known, from, limit, skip)).toEqual(listed.slice(skip, skip + limit));
      }),
      { numRuns: 500, seed: 3 },
    );
  });

  it('grow by what came later as if all had been found at once', () => {
    fc.assert(
      fc.property(someIds, fc.nat({ max: 250 }), (ids, upTo) => {
        const known = matchesIn(
          nothing,
          foundIn(
            ids.filter((id) => id <= upTo),
            upTo,
          ),
        );
        const later = foundIn(
          ids.filter((id) => id > upTo),
          100_000,
        );
        expect(withLater(known, later)).toEqual(matchesIn(nothing, foundIn(ids, 100_000)));
      }),
      { numRuns: 300, seed: 5 },
    );
  });

  it('are the same whether a first look had a bit for each of the first ids, or told which words hold any', () => {
    fc.assert(
      fc.property(someIds, (ids) => {
        const bits = new Uint32Array(128);
        const within = ids.filter((id) => id < 32 * bits.length);
        for (const id of within) bits[id >>> 5] = (bits[id >>> 5] as number) | (1 << (id & 31));
        const later = foundIn(ids.slice(within.length), 100_000);
        expect(matchesIn(bits, later)).toEqual(matchesIn(nothing, foundIn(ids, 100_000)));
      }),
      { numRuns: 200, seed: 6 },
    );
  });

  it('are not copied when nothing came later, but only reach further', () => {
    const known = matchesIn(nothing, foundIn([3, 70], 300));
    const later = withLater(known, foundIn([], 400));
    expect(later).toEqual({ ...known, upTo: 400, uid: 'uid of 400' });
    expect(later.bits).toBe(known.bits);
  });

  it('hold every id of a word, and ids beyond 32 bits', () => {
    const ids = Array.from({ length: 96 }, (_, nth) => 2 ** 36 + nth);
    expect(idsBefore(matchesIn(nothing, foundIn(ids, 2 ** 37)), all, 200)).toEqual(ids.toReversed());
  });

  it('are nowhere when there are none', () => {
    expect(idsBefore(matchesIn(nothing, foundIn([], 300)), 300, 10)).toEqual([]);
  });
});
