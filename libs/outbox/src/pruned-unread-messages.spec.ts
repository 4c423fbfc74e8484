import { expect, it } from 'vitest';
import { gapsBetween } from './table-projection.ts';

const at = (position: number) => ({
  position,
  uid: `00000000-0000-4000-8000-00000000000${position}`,
  type: 'feature-created',
  recordedAt: '2026-11-21T12:00:00.000Z',
  traceparent: null,
  payload: {},
});

it.each([
  ['nothing', 0, [1, 2, 3], 3, []],
  ['nothing, in an empty outbox', 0, [], 0, []],
  ['what is pruned before the first message', 0, [3], 3, [[1, 2]]],
  [
    'what is pruned between messages',
    4,
    [5, 7, 9],
    9,
    [
      [6, 6],
      [8, 8],
    ],
  ],
  ['what is pruned after the last message', 4, [5], 8, [[6, 8]]],
  ['everything, where no message is left', 4, [], 8, [[5, 8]]],
] as const)('a consumer has missed %s', (_what, from, positions, upTo, gaps) => {
  const missed = gapsBetween(from, positions.map(at), upTo);
  expect(missed.map(({ first, last }) => [first, last])).toEqual(gaps);
});
