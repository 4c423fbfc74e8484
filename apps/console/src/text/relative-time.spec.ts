import { describe, expect, it } from 'vitest';
import { relativeTime } from './relative-time.ts';

describe('a time by its distance', () => {
  const [minute, hour, day] = [60_000, 3_600_000, 86_400_000];
  it.each([
    ['what is for a week', 7 * day - minute, 'in 7 days'],
    ['what is for an hour', hour - 20_000, 'in 60 min.'],
    ['what is for a day and a half', 1.5 * day - minute, 'tomorrow'],
    ['what was almost two hours ago', minute - 2 * hour, '1 hr. ago'],
    ['what was a moment ago', -20_000, 'just now'],
  ])('says of %s how far it is, and of what is over no more than has passed', (_what, distance, words) => {
    expect(relativeTime(1e12 + distance, 1e12)).toBe(words);
  });
});
