import { describe, expect, it } from 'vitest';
import { retryAfterMs } from './retry.ts';

describe('a destination that asks to wait', () => {
  const now = new Date('2026-05-01T12:00:00Z');

  it.each([
    ['90', 90_000],
    [' 5 ', 5_000],
    ['Fri, 01 May 2026 12:00:30 GMT', 30_000],
    ['86401', 86_400_000],
    ['999999999', 86_400_000],
    ['Fri, 01 May 2099 12:00:00 GMT', 86_400_000],
  ])('with %j is left alone for %d ms, and for a day at most', (header, ms) => {
    expect(retryAfterMs(header, now)).toBe(ms);
  });

  it.each(['', '0', '-5', 'soon', '1e9', '9999999999', 'Fri, 01 May 2026 11:00:00 GMT'])(
    'with %j, as with a time that has passed by this clock, is asked again by the schedule',
    (header) => expect(retryAfterMs(header, now)).toBeUndefined(),
  );
});
