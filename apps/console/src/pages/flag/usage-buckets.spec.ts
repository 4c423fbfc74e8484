import { afterEach, describe, expect, it, vi } from 'vitest';
import type { UsageHistory } from '@bunting/contracts';
import { usageBuckets, usageParts } from './usage-buckets.ts';

function aHistory(
  from: string,
  unit: 'minute' | 'hour' | 'day',
  buckets: UsageHistory['environments'][0]['buckets'],
): UsageHistory {
  return {
    featureName: 'f',
    range: '24h',
    from,
    unit,
    environments: [{ environment: 'production', buckets }],
    applications: [],
  };
}

describe('the bars of usage', () => {
  afterEach(() => void vi.unstubAllEnvs());
  it('have one for each minute, hour or day of the range, also where nothing was counted', () => {
    const at = '2026-11-28T03:00:00.000Z';
    const history = aHistory('2026-11-27T21:00:00.000Z', 'hour', [{ at, yes: 2, no: 1, variants: {} }]);
    const buckets = usageBuckets(history, '24h', 'production');
    expect(buckets).toHaveLength(24);
    expect(buckets[6]).toMatchObject({ at: Date.parse(at), yes: 2, no: 1 });
    expect(buckets.filter(({ yes }) => yes > 0)).toHaveLength(1);
    expect(usageBuckets(history, '24h', 'development').every(({ yes }) => yes === 0)).toBe(true);
    expect(usageBuckets(history, '1h', 'production')).toHaveLength(60);
    expect(usageBuckets(history, '400d', 'production')).toHaveLength(400);
  });

  it('begin at the midnights of the reader in the last 30 days', () => {
    const midnight = new Date(2026, 9, 20);
    const later = new Date(2026, 10, 18);
    const history = aHistory(midnight.toISOString(), 'day', [{ at: later.toISOString(), yes: 7, no: 0, variants: {} }]);
    const buckets = usageBuckets(history, '30d', 'production');
    expect(buckets.at(-1)).toMatchObject({ at: later.getTime(), yes: 7 });
  });

  it('have what was counted where the clocks are changed at midnight', () => {
    vi.stubEnv('TZ', 'Africa/Cairo');
    // 24 April 2026 begins there at 1 o'clock.
    const from = '2026-04-23T22:00:00.000Z';
    expect(new Date(from).getHours()).toBe(1);
    const at = ['2026-04-23T22:00:00.000Z', '2026-04-24T21:00:00.000Z', '2026-05-22T21:00:00.000Z'];
    const history = aHistory(
      from,
      'day',
      at.map((start, nth) => ({ at: start, yes: nth + 1, no: 0, variants: {} })),
    );
    const buckets = usageBuckets(history, '30d', 'production');
    expect(buckets.map(({ yes }) => yes).filter((yes) => yes > 0)).toEqual([1, 2, 3]);
    expect(buckets[1]).toMatchObject({ at: Date.parse('2026-04-24T21:00:00.000Z'), yes: 2 });
    expect(buckets.at(-1)).toMatchObject({ at: Date.parse('2026-05-22T21:00:00.000Z'), yes: 3 });
  });

  it('are divided into the variants with the most evaluations, the rest of those on, and those off', () => {
    const variants = { blue: 5, red: 9, green: 1, black: 1, white: 2 };
    const parts = usageParts([{ at: 0, yes: 20, no: 4, variants }]);
    expect(parts).toEqual([
      { name: 'red', counts: [9] },
      { name: 'blue', counts: [5] },
      { name: 'white', counts: [2] },
      { name: 'black', counts: [1] },
      { name: 'on, other or no variant', counts: [3] },
      { name: 'off', counts: [4] },
    ]);
    expect(usageParts([{ at: 0, yes: 3, no: 0, variants: {} }])).toEqual([{ name: 'on', counts: [3] }]);
    expect(usageParts([{ at: 0, yes: 0, no: 0, variants: {} }])).toEqual([]);
  });
});
