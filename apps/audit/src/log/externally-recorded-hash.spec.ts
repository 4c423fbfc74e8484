import { expect, it } from 'vitest';
import { isVerifiedWithoutMissingEvents } from './externally-recorded-hash.ts';

const missed = { producer: 'features', first: 1, last: 3 };
const deadLetter = { producer: 'gateway', position: 7 };

it.each([
  ['all of it was verified and all events arrived', { checkedTo: 9, to: 9 }],
  ['it is empty, because it begins after the last event', { checkedTo: 9, to: 8 }],
])('a range of the log is complete when %s', (_, range) => {
  expect(isVerifiedWithoutMissingEvents(range, [], [])).toBe(true);
});

it.each([
  ['the verification ended before the last event', { checkedTo: 8, to: 9 }, [], []],
  ['events never arrived', { checkedTo: 9, to: 9 }, [missed], []],
  ['events could not be appended', { checkedTo: 9, to: 9 }, [], [deadLetter]],
])('a range of the log is not complete when %s', (_, range, neverArrived, deadLetters) => {
  expect(isVerifiedWithoutMissingEvents(range, neverArrived, deadLetters)).toBe(false);
});
