import { expect, it } from 'vitest';
import { initialsOf } from './initials.ts';

it.each([
  ['Ada Lovelace', 'AL'],
  ['Maximiliane-Wilhelmine von Hohenlohe', 'MH'],
  ['عمر الخيام', 'عا'],
  ['ada@example.org', 'A'],
  ['#12', '1'],
  ['', ''],
])('the initials of “%s” are “%s”', (name, initials) => {
  expect(initialsOf(name)).toBe(initials);
});
