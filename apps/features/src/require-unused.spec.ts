import { expect, it } from 'vitest';
import { refusalOf } from '../test/refusal-of.ts';
import { formatReferrers, type Referrer, requireUnused } from './names.ts';

const users = (count: number, project = 'shop'): Referrer[] =>
  Array.from({ length: count }, (_, nth) => ({ name: `${project}-${nth}`, project }));

it('the error for an object in use names ten uses and the number of others', () => {
  expect(formatReferrers(users(2), [])).toBe('shop-0, shop-1');
  expect(formatReferrers([...users(1), ...users(1)], [])).toBe('shop-0');
  expect(formatReferrers(users(11), [])).toMatch(/shop-9, …$/);
});

it('the error for an object in use only counts uses that are hidden from the caller', () => {
  expect(formatReferrers([...users(1), ...users(2, 'vault')], ['vault'])).toBe('shop-0 and 2 others');
  expect(formatReferrers(users(1, 'vault'), ['vault'])).toBe('1 other');
});

it('an object in use cannot be deleted', () => {
  expect(refusalOf(() => requireUnused('Segment beta', users(1), []))).toMatchObject({
    kind: 'ConflictError',
    message: 'Segment beta is in use by shop-0',
  });
  expect(() => requireUnused('Segment beta', [], [])).not.toThrow();
});
