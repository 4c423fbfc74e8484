import { expect, it } from '@jest/globals';
import { listed, type User } from './users.ts';

const users = (count: number, project = 'shop'): User[] =>
  Array.from({ length: count }, (_, nth) => ({ name: `${project}-${nth}`, project }));

it('names ten of those that use something, and says that there are more', () => {
  expect(listed(users(2))).toBe('shop-0, shop-1');
  expect(listed([...users(1), ...users(1)])).toBe('shop-0');
  expect(listed(users(11))).toMatch(/shop-9, …$/);
});

it('only counts those that are hidden from who asks', () => {
  expect(listed([...users(1), ...users(2, 'vault')], ['vault'])).toBe('shop-0 and 2 others');
  expect(listed(users(1, 'vault'), ['vault'])).toBe('1 other');
});
