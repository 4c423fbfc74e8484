import { expect, it } from '@jest/globals';
import { knownTotals } from './known-totals.ts';

it('what was kept last is recalled, and no more of it than there may be', () => {
  const totals = knownTotals(2);
  totals.keep('a', { mark: '1', total: 1 });
  totals.keep('b', { mark: '1', total: 2 });
  totals.keep('a', { mark: '2', total: 3 });
  totals.keep('c', { mark: '2', total: 4 });
  expect(totals.recall('a')).toEqual({ mark: '2', total: 3 });
  expect(totals.recall('b')).toBeUndefined();
  expect(totals.recall('c')).toEqual({ mark: '2', total: 4 });
});
