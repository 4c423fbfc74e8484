import { expect, it } from 'vitest';
import { requireOpenForPlayground } from '../domain/require-open-for-playground.ts';

it.each(['Draft', 'In review', 'Approved', 'Scheduled'] as const)(
  'the changes of a request in state %s are evaluated as proposed ones',
  (state) => {
    expect(() => requireOpenForPlayground({ id: 7, state })).not.toThrow();
  },
);

it.each(['Applied', 'Rejected', 'Cancelled'] as const)('a request in state %s proposes nothing any more', (state) => {
  expect(() => requireOpenForPlayground({ id: 7, state })).toThrow(
    `Change request 7 is closed (${state}): its changes are not proposed any more.`,
  );
});
