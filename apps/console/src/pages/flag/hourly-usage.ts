import type { RawFeatureMetrics } from '@bunting/contracts';

const hourSeconds = 3_600;
export const hoursShown = 48;

interface HourlyUsage {
  /** the starts of the hours, in seconds since 1970 */
  readonly hours: number[];
  readonly yes: number[];
  readonly no: number[];
}

/** Evaluations in an environment in each of the last 48 hours, those without any included, of all applications together. */
export const hourlyUsage = (data: RawFeatureMetrics['data'], environment: string, now: number): HourlyUsage => {
  const last = Math.floor(now / 1_000 / hourSeconds) * hourSeconds;
  const hours = Array.from({ length: hoursShown }, (_, nth) => last - (hoursShown - 1 - nth) * hourSeconds);
  const at = new Map(hours.map((hour, nth) => [hour, nth]));
  const yes = hours.map(() => 0);
  const no = hours.map(() => 0);
  for (const row of data) {
    const nth = at.get(Math.floor(Date.parse(row.timestamp) / 1_000 / hourSeconds) * hourSeconds);
    if (nth === undefined || row.environment !== environment) continue;
    yes[nth] = (yes[nth] ?? 0) + row.yes;
    no[nth] = (no[nth] ?? 0) + row.no;
  }
  return { hours, yes, no };
};
