import { describe, expect, it } from 'vitest';
import {
  requireAfterNotBeyondLog,
  requireEventNotDropped,
  requireFromNotAfterTo,
  requireFromNotBeyondNextEvent,
} from './require-valid-bounds.ts';

describe('in a log whose last event is the ninth', () => {
  it('a feed begins after an event of the log, or after none', () => {
    for (const after of [0, 1, 9]) expect(() => requireAfterNotBeyondLog(after, 9)).not.toThrow();
    expect(() => requireAfterNotBeyondLog(10, 9)).toThrow(
      'The `/query/after` property must be at most 9: the last event has the id 9. You sent 10.',
    );
  });

  it('a verified range begins at an event of the log, at the next one, or anywhere', () => {
    for (const from of [undefined, 1, 9, 10]) expect(() => requireFromNotBeyondNextEvent(from, 9)).not.toThrow();
    expect(() => requireFromNotBeyondNextEvent(11, 9)).toThrow(
      'The `/query/from` property must be at most 10: the last event has the id 9. You sent 11.',
    );
  });
});

it('a range of events does not end before it begins', () => {
  for (const [from, to] of [[1, 2], [2, 2], [undefined, 1], [7]])
    expect(() => requireFromNotAfterTo(from, to)).not.toThrow();
  expect(() => requireFromNotAfterTo(3, 2)).toThrow('The `/query/from` property must not be greater than `/query/to`.');
});

it('a command names its options, and not the parameters of the operation, in what it refuses', () => {
  expect(() => requireFromNotAfterTo(3, 2, '--')).toThrow('The `--from` property must not be greater than `--to`.');
  expect(() => requireFromNotBeyondNextEvent(11, 9, '--')).toThrow('The `--from` property must be at most 10');
});

it('the event of an externally recorded hash that was dropped for its age is refused, with the option in which it was sent', () => {
  const externalHash = { id: 3, hash: '', path: '--known' };
  for (const droppedId of [0, 2, 3]) expect(() => requireEventNotDropped(externalHash, droppedId)).not.toThrow();
  expect(() => requireEventNotDropped(externalHash, 4)).toThrow(
    'The `--known` property names event 3, which was dropped for its age: the log begins after event 4.',
  );
});
