import type { RawFeatureMetrics } from '@bunting/contracts';

const hourSeconds = 3_600;
export const hoursShown = 48;

interface HourlyUsage {
  /** the starts of the hours, in seconds since 1970 */
  readonly hours: number[];
  readonly yes: number[];
  readonly no: number[];
}

/**
 * The evaluations in an environment in each of the last 48 hours, summed over all applications; 0 in an hour without any.
 * @param now milliseconds since 1970
 */
export function hourlyUsage(data: RawFeatureMetrics['data'], environment: string, now: number): HourlyUsage {
  const currentHour = Math.floor(now / 1_000 / hourSeconds) * hourSeconds;
  const hours = Array.from({ length: hoursShown }, (_, index) => currentHour - (hoursShown - 1 - index) * hourSeconds);
  const indexOfHour = new Map(hours.map((hour, index) => [hour, index]));
  const yes = hours.map(() => 0);
  const no = hours.map(() => 0);
  for (const row of data) {
    const index = indexOfHour.get(Math.floor(Date.parse(row.timestamp) / 1_000 / hourSeconds) * hourSeconds);
    if (index === undefined || row.environment !== environment) continue;
    yes[index] = (yes[index] ?? 0) + row.yes;
    no[index] = (no[index] ?? 0) + row.no;
  }
  return { hours, yes, no };
}
