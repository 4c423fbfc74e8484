import { expect, it } from 'vitest';
import { readDayBound } from './day-bound.ts';

const now = new Date('2026-11-22T10:00:00Z');

it('a filter bounds days by how long ago they are, or by the calendar', () => {
  expect(readDayBound('<7d', now)).toEqual({ isSince: true, day: '2026-11-15' });
  expect(readDayBound('>4w', now)).toEqual({ isSince: false, day: '2026-10-25' });
  expect(readDayBound('>2026-01-31', now)).toEqual({ isSince: true, day: '2026-01-31' });
  for (const value of ['7d', '<', '<7x', '<2026-13-01', '>2026-1-1']) expect(readDayBound(value, now)).toBeUndefined();
});
