import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { windowOf } from './window.ts';

it('finds a page that holds what is wanted, and little else', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.nat(200_000), fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER - 1_000 })),
      fc.integer({ min: 1, max: 1_000 }),
      (offset, limit) => {
        const { page, hitsPerPage, skip } = windowOf(offset, limit);
        expect((page - 1) * hitsPerPage + skip).toBe(offset);
        expect(skip + limit).toBeLessThanOrEqual(hitsPerPage);
        expect(hitsPerPage).toBeLessThan(limit * 3 + 100);
      },
    ),
    { seed: 3, numRuns: 5_000 },
  );
});

it('asks for a page where there is one, and for no hits where none are wanted', () => {
  expect(windowOf(100, 50)).toEqual({ page: 3, hitsPerPage: 50, skip: 0 });
  expect(windowOf(7, 0)).toEqual({ page: 1, hitsPerPage: 0, skip: 0 });
});
