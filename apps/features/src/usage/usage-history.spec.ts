import { describe, expect, it } from 'vitest';
import { usagePeriod } from './usage-history.ts';

const now = new Date('2026-11-28T20:17:31.000Z');

describe('the history of usage', () => {
  it('has a minute, an hour or a day for each of its counts, the current one last', () => {
    expect(usagePeriod({ range: '1h' }, now).starts).toHaveLength(60);
    expect(usagePeriod({ range: '1h' }, now).starts.at(-1)).toBe('2026-11-28T20:17:00.000Z');
    expect(usagePeriod({}, now)).toMatchObject({ unit: 'hour', source: 'hours' });
    expect(usagePeriod({ range: '24h' }, now).starts[0]).toBe('2026-11-27T21:00:00.000Z');
    expect(usagePeriod({ range: '7d' }, now).starts).toHaveLength(168);
    expect(usagePeriod({ range: '30d' }, now).starts.at(-1)).toBe('2026-11-28T00:00:00.000Z');
  });

  it('begins the 30 days at midnight of the reader, also where clocks change, and the 400 at that of UTC', () => {
    const india = usagePeriod({ range: '30d', timeZone: 'Asia/Kolkata' }, now);
    // It is the 29th there already.
    expect(india.starts.at(-1)).toBe('2026-11-28T18:30:00.000Z');
    expect(india.starts).toHaveLength(30);
    const oslo = usagePeriod({ range: '30d', timeZone: 'Europe/Oslo' }, new Date('2026-11-05T12:00:00.000Z')).starts;
    expect(oslo).toContain('2026-10-24T22:00:00.000Z');
    expect(oslo).toContain('2026-10-25T23:00:00.000Z');
    expect(usagePeriod({ range: '400d', timeZone: 'Asia/Kolkata' }, now).starts.at(-1)).toBe(
      '2026-11-28T00:00:00.000Z',
    );
  });

  it('refuses a time zone that does not exist', () => {
    expect(() => usagePeriod({ timeZone: 'Mars/Olympus' }, now)).toThrow('must be the name of a time zone');
  });
});
