import { expect, it } from 'vitest';
import { streamTickets } from './changes.ts';

const ticket = { tokenId: 'a-token', environment: 'development', scopeHash: 'of-all', revision: 7, expiresAt: 2_000 };

it('reads a ticket on every replica until it expires, and none that was signed with another key', () => {
  let now = 1_000;
  const [one, replica, stranger] = ['same key', 'same key', 'other key'].map((key) =>
    streamTickets(Buffer.from(key), { now: () => now }),
  ) as [ReturnType<typeof streamTickets>, ReturnType<typeof streamTickets>, ReturnType<typeof streamTickets>];
  const issued = one.issue(ticket);
  expect(replica.read(issued)).toEqual(ticket);
  expect(stranger.read(issued)).toBeUndefined();
  now = 2_000;
  expect(replica.read(issued)).toBeUndefined();
});
