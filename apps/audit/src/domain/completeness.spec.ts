import { expect, it } from '@jest/globals';
import { isComplete } from './completeness.ts';

const missed = { producer: 'features', first: 1, last: 3 };
const deadLetter = { producer: 'gateway', position: 7 };

it.each([
  ['all of it was verified and all events arrived', { checkedTo: 9, to: 9 }, [], [], true],
  ['it is empty, because it begins after the last event', { checkedTo: 9, to: 8 }, [], [], true],
  ['the verification ended before the last event', { checkedTo: 8, to: 9 }, [], [], false],
  ['events never arrived', { checkedTo: 9, to: 9 }, [missed], [], false],
  ['events could not be appended', { checkedTo: 9, to: 9 }, [], [deadLetter], false],
])('of a range of the log: when %s, complete is as expected', (_, range, neverArrived, deadLetters, expected) => {
  expect(isComplete(range, neverArrived, deadLetters)).toBe(expected);
});
