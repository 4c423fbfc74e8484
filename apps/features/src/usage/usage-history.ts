import { type RequestOf, type GetUsageHistory, type UsageRange, usageRanges } from '@bunting/contracts';
import { parameterParser, parseTimeZone, startOfDay } from '@bunting/contracts/validation';

const millisecondsOf = { minute: 60_000, hour: 3_600_000 } as const;
const hoursPerDay = 24;

/** What a history of usage covers. */
export interface UsagePeriod {
  readonly range: UsageRange;
  readonly unit: 'minute' | 'hour' | 'day';
  /** the starts of its minutes, hours or days, the oldest first */
  readonly starts: readonly string[];
  /** the sums that it is made of, beside those of the last two days */
  readonly source: 'minutes' | 'hours' | 'days';
}

/** The longest range that sums by hour cover, by which days begin where the reader is. */
const hourlyRange: UsageRange = '30d';

function dayIn(timeZone: string, at: Date): string {
  // Written as 2026-11-28.
  return new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' }).format(at);
}

/** The period of a request. @throws Refusal `ValidationError` for a time zone that does not exist */
export function usagePeriod(
  { range = '24h', ...query }: RequestOf<typeof GetUsageHistory>['query'],
  now: Date,
): UsagePeriod {
  const requestedZone = parameterParser(query)('timeZone', parseTimeZone) ?? 'UTC';
  const { hours, unit } = usageRanges[range];
  if (unit === 'day') {
    const [isHourly, days] = [range === hourlyRange, hours / hoursPerDay];
    const timeZone = isHourly ? requestedZone : 'UTC';
    const today = dayIn(timeZone, now);
    const starts = Array.from({ length: days }, (_, nth) => startOfDay(today, timeZone, nth + 1 - days).toISOString());
    return { range, unit, starts, source: isHourly ? 'hours' : 'days' };
  }
  const step = millisecondsOf[unit];
  const count = (hours * millisecondsOf.hour) / step;
  const current = Math.floor(now.getTime() / step) * step;
  return {
    range,
    unit,
    starts: Array.from({ length: count }, (_, nth) => new Date(current - (count - 1 - nth) * step).toISOString()),
    source: unit === 'minute' ? 'minutes' : 'hours',
  };
}
