import { expect, it } from 'vitest';
import { unbroken } from './unbroken.ts';

it('keeps percent signs with their numbers, and words apart', () => {
  expect(unbroken('25 % of users, split into a (33.4 %) and b')).toBe(
    '25\u00a0% of users, split into a (33.4\u00a0%) and b',
  );
});
