import { describe, expect, it } from '@jest/globals';
import {
  requireFeedWithinLog,
  requireCheckpointWithinLog,
  requireRange,
  requireRangeWithinLog,
} from './require-within-log.ts';

describe('in a log whose last event is the ninth', () => {
  it('a feed begins after an event of the log, or after none', () => {
    for (const after of [0, 1, 9]) expect(() => requireFeedWithinLog(after, 9)).not.toThrow();
    expect(() => requireFeedWithinLog(10, 9)).toThrow(
      'The `/query/after` property must be the id of an event: the last one has 9. You sent 10.',
    );
  });

  it('a verified range begins at an event of the log, at the next one, or anywhere', () => {
    for (const from of [undefined, 1, 9, 10]) expect(() => requireRangeWithinLog(from, 9)).not.toThrow();
    expect(() => requireRangeWithinLog(11, 9)).toThrow(
      'The `/query/from` property must be the id of an event: the last one has 9. You sent 11.',
    );
  });
});

it('a range of events does not end before it begins', () => {
  for (const [from, to] of [[1, 2], [2, 2], [undefined, 1], [7]]) expect(() => requireRange(from, to)).not.toThrow();
  expect(() => requireRange(3, 2)).toThrow('The `/query/from` property must not be greater than `/query/to`.');
});

it('a command names its options, and not the parameters of the operation, in what it refuses', () => {
  expect(() => requireRange(3, 2, '--')).toThrow('The `--from` property must not be greater than `--to`.');
  expect(() => requireRangeWithinLog(11, 9, '--')).toThrow('The `--from` property must be the id of an event');
});

it('an event that was dropped for its age is not compared, and the refusal names where it was sent', () => {
  const known = { id: 3, hash: '', path: '--known' };
  for (const droppedId of [0, 2, 3]) expect(() => requireCheckpointWithinLog(known, droppedId)).not.toThrow();
  expect(() => requireCheckpointWithinLog(known, 4)).toThrow(
    'The `--known` property names event 3, which was dropped for its age: the log begins after event 4.',
  );
});
