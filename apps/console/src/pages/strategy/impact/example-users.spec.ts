import { expect, it } from 'vitest';
import { parseExampleUsers } from './example-users.ts';

it('reads example users from lines of names and values', () => {
  expect(parseExampleUsers('userId=ann country=no, plan="pro plus"\n\n  bob@example.com \n')).toEqual([
    { text: 'userId=ann country=no, plan="pro plus"', context: { userId: 'ann', country: 'no', plan: 'pro plus' } },
    { text: 'bob@example.com', context: { userId: 'bob@example.com' } },
  ]);
});

it('reads at most the twenty example users that one request may have', () => {
  expect(parseExampleUsers(Array.from({ length: 50 }, (_, nth) => `user-${nth}`).join('\n'))).toHaveLength(20);
});
