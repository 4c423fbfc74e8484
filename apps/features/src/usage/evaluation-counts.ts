import { type BulkMetricsBody, type Caller, may, type MetricsBody } from '@bunting/contracts';
import { invalidPropertyValue } from '../refusals.ts';
import { isApplicationName } from '../applications/reported-applications.ts';

/** How often an application evaluated a feature in an environment within one minute. */
export interface EvaluationCount {
  readonly feature: string;
  readonly environment: string;
  readonly appName: string;
  /** minutes since 1970 */
  readonly minute: number;
  readonly yes: number;
  readonly no: number;
  /** how often each variant was the result */
  readonly variants: Readonly<Record<string, number>>;
}

const minuteMs = 60_000;

const minutesPerHour = 60;

/** The largest count that JSON can carry exactly. */
export const maxCount = Number.MAX_SAFE_INTEGER;

/** The maximum number of variants of one count; further ones are dropped. */
const maxVariants = 200;

type Timestamp = MetricsBody['bucket']['stop'];

const millisecondsOf = (value: Timestamp, path: string): number => {
  const time = new Date(value).getTime();
  if (Number.isNaN(time)) throw invalidPropertyValue('be a date and time that exists', path, value);
  return time;
};

/** The minute of a time. A time in the future, from a wrong clock of the application, counts as now. */
const minuteOf = (time: number, now: Date): number => Math.floor(Math.min(time, now.getTime()) / minuteMs);

const variantsOf = (variants: Readonly<Record<string, number>> = {}): Record<string, number> =>
  Object.fromEntries(
    Object.entries(variants)
      .filter(([name, count]) => count > 0 && name.length <= 255)
      .slice(0, maxVariants),
  );

/** Whether the caller may report on features of a project. */
export const mayReportOn = (caller: Caller, project: string): boolean =>
  may(caller, ['CLIENT', 'FRONTEND'], { project });

/** The counts of an application, without those that are zero. */
export const evaluationCounts = (body: MetricsBody, environment: string, now: Date): EvaluationCount[] => {
  const minute = minuteOf(millisecondsOf(body.bucket.stop, '/body/bucket/stop'), now);
  return Object.entries(body.bucket.toggles).flatMap(([feature, { yes = 0, no = 0, variants }]) =>
    yes === 0 && no === 0
      ? []
      : [{ feature, environment, appName: body.appName, minute, yes, no, variants: variantsOf(variants) }],
  );
};

/**
 * The counts that a proxy collected, in the environments that the caller may report for and without empty ones. A proxy reports
 * only the hour: its counts are assigned to the last minute of that hour, or to now if that is earlier.
 */
export const proxiedCounts = ({ metrics }: BulkMetricsBody, caller: Caller, now: Date): EvaluationCount[] =>
  metrics.flatMap(({ featureName, environment, appName, timestamp, yes = 0, no = 0, variants }, index) => {
    const minute = minuteOf(millisecondsOf(timestamp, `/body/metrics/${index}/timestamp`), now);
    if ((yes === 0 && no === 0) || !isApplicationName(appName) || !may(caller, ['CLIENT'], { environment })) return [];
    const endOfHour = Math.floor(minute / minutesPerHour) * minutesPerHour + minutesPerHour - 1;
    const countedMinute = Math.min(endOfHour, Math.floor(now.getTime() / minuteMs));
    return [
      { feature: featureName, environment, appName, minute: countedMinute, yes, no, variants: variantsOf(variants) },
    ];
  });
