import { expect, it } from 'vitest';
import { hourlyUsage } from './hourly-usage.ts';

const now = Date.parse('2026-11-22T10:30:00Z');
function row(timestamp: string, more: object = {}) {
  return {
    featureName: 'checkout',
    appName: 'shop',
    environment: 'production',
    timestamp,
    yes: 2,
    no: 1,
    ...more,
  };
}

it('adds the evaluations of all applications hour by hour, for one environment and the last 48 hours', () => {
  const { hours, yes, no } = hourlyUsage(
    [
      row('2026-11-22T10:00:00Z'),
      row('2026-11-22T10:00:00Z', { appName: 'web', yes: 5 }),
      row('2026-11-22T08:00:00Z'),
      row('2026-11-22T08:00:00Z', { environment: 'development' }),
      row('2026-11-19T08:00:00Z'),
    ],
    'production',
    now,
  );
  expect(hours).toHaveLength(48);
  expect(new Date((hours.at(-1) ?? 0) * 1_000).toISOString()).toBe('2026-11-22T10:00:00.000Z');
  expect(yes.slice(-3)).toEqual([2, 0, 7]);
  expect(no.slice(-3)).toEqual([1, 0, 2]);
  expect(yes.reduce((sum, one) => sum + one)).toBe(9);
});
