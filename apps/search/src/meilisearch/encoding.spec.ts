import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { normalized } from '../../test/meilisearch/facets.ts';
import {
  encoded,
  idOf,
  keyOf,
  longestEncoded,
  nameOf,
  quoted,
  sortable,
  sortableMoment,
  suffixesOf,
} from './encoding.ts';

const text = fc.string({ unit: 'binary', maxLength: 60 });
const alike = fc.string({
  unit: fc.constantFrom('a', 'A', 'é', 'e\u0301', 'ﬁ', 'fi', '①', '1', ' ', '_', '-', 'ß', '😀'),
  maxLength: 8,
});

describe('text in the index', () => {
  it('is what Meilisearch leaves alone: its case, its blanks and its Unicode count', () => {
    fc.assert(
      fc.property(text, (any) => {
        expect(normalized(encoded(any))).toBe(encoded(any));
        expect(encoded(any)).toMatch(/^[a-z0-9_-]*$/);
      }),
      { seed: 5, numRuns: 1_000 },
    );
  });

  it('is equal only to itself', () => {
    fc.assert(
      fc.property(alike, alike, (one, other) => {
        expect(encoded(one) === encoded(other)).toBe(one === other);
        expect(keyOf(one) === keyOf(other)).toBe(one === other);
      }),
      { seed: 5, numRuns: 2_000 },
    );
  });

  it('is found anywhere within another, and only where it is', () => {
    fc.assert(
      fc.property(alike, alike, (looked, wanted) => {
        const isFound = suffixesOf(looked).some((suffix) => suffix.startsWith(encoded(wanted)));
        expect(isFound).toBe(wanted === '' ? looked !== '' : looked.includes(wanted));
      }),
      { seed: 5, numRuns: 5_000 },
    );
  });

  it('is of a bounded length, and still its own', () => {
    const long = '😀'.repeat(300);
    expect(keyOf(long).length).toBeLessThanOrEqual(longestEncoded);
    expect(keyOf(long)).not.toBe(keyOf(`${long}!`));
    expect(Math.max(...suffixesOf(long).map(({ length }) => length))).toBe(longestEncoded);
  });

  it('sorts byte by byte, as PostgreSQL does', () => {
    fc.assert(
      fc.property(text, text, (one, other) => {
        const [a, b] = [Buffer.from(one), Buffer.from(other)];
        expect(Math.sign(Buffer.compare(a, b))).toBe(
          sortable(one) < sortable(other) ? -1 : sortable(one) > sortable(other) ? 1 : 0,
        );
      }),
      { seed: 5, numRuns: 1_000 },
    );
  });

  it('cannot end the filter that it stands in', () => {
    expect(quoted('" OR archived = 1 OR "')).toBe(String.raw`"\" OR archived = 1 OR \""`);
  });
});

it('reads names from ids, and from nothing else', () => {
  expect(nameOf(idOf('a.b~c'))).toBe('a.b~c');
  for (const id of ['zz', 'FF', 'ff', 'mark', 7, null, undefined, {}]) expect(nameOf(id)).toBeUndefined();
});

it('sorts moments in both directions, before 1970 and in far years as well', () => {
  const moments = ['-62135596800000000', '-1', '0', '1735689600000001', '253402300799999999'];
  const rising = moments.map((moment) => sortableMoment(moment, 'rising'));
  const falling = moments.map((moment) => sortableMoment(moment, 'falling'));
  expect(rising.toSorted()).toEqual(rising);
  expect(falling.toSorted().reverse()).toEqual(falling);
});
