import {
  type BulkMetricsBody,
  type Caller,
  may,
  type MetricsBody,
  type RegisterApplicationBody,
  grantedProjects,
} from '@bunting/contracts';
import { reportingEnvironment } from './reporting-environment.ts';
import { isFrontendTokenCaller, type ReportedApplicationInstance } from './applications.ts';
import type { EnteredStage } from '../features/feature.ts';
import { invalidPropertyValue } from '../refusals.ts';

/** How often an application evaluated a feature in an environment within one minute. */
export interface EvaluationCount {
  readonly feature: string;
  readonly environment: string;
  readonly appName: string;
  /** minutes since 1970 */
  readonly minute: number;
  readonly yes: number;
  readonly no: number;
  /** how often it came to each variant */
  readonly variants: Readonly<Record<string, number>>;
}

/** What decides which stages of its life a reported feature enters. */
export interface ReportedFeature {
  readonly name: string;
  readonly project: string;
  /** the stages that it has entered */
  readonly stages: readonly string[];
  /** those of the reported environments in which it is on */
  readonly enabledIn: readonly string[];
}

const minuteMs = 60_000;
const minutesPerHour = 60;
/** the largest count that JSON can carry */
export const largestCount = Number.MAX_SAFE_INTEGER;
/** further variants of a report are dropped */
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
  metrics.flatMap(({ featureName, environment, appName, timestamp, yes = 0, no = 0, variants }, nth) => {
    const minute = minuteOf(millisecondsOf(timestamp, `/body/metrics/${nth}/timestamp`), now);
    if ((yes === 0 && no === 0) || !may(caller, ['CLIENT'], { environment })) return [];
    const endOfHour = Math.floor(minute / minutesPerHour) * minutesPerHour + minutesPerHour - 1;
    const counted = Math.min(endOfHour, Math.floor(now.getTime() / minuteMs));
    return [{ feature: featureName, environment, appName, minute: counted, yes, no, variants: variantsOf(variants) }];
  });

/** How many names of strategies are stored of one application. */
const strategiesLimit = 200;

interface ApplicationReport {
  readonly appName: string;
  readonly instanceId?: string | undefined;
  readonly sdkVersion?: string | null | undefined;
  readonly strategies?: readonly string[] | undefined;
}

/** The application of a report, with the scope of its token. With a public token, instances and strategies are not recorded. */
const applicationReport = (
  { appName, instanceId, sdkVersion, strategies }: ApplicationReport,
  environment: string,
  caller: Caller,
): ReportedApplicationInstance => {
  const isFrontend = isFrontendTokenCaller(caller);
  return {
    appName,
    environment,
    projects: grantedProjects(caller),
    isFrontend,
    createdBy: caller.name,
    ...(sdkVersion === undefined ? {} : { sdkVersion }),
    ...(strategies === undefined || isFrontend ? {} : { strategies: strategies.slice(0, strategiesLimit) }),
    ...(isFrontend ? {} : { instanceId: instanceId || 'default' }),
  };
};

/** The properties of a registration; the projects are those of the token. */
export const registeredApplication = (
  body: RegisterApplicationBody,
  environment: string,
  caller: Caller,
): ReportedApplicationInstance =>
  applicationReport({ ...body, sdkVersion: body.sdkVersion ?? null }, environment, caller);

/** The properties of the application that sends metrics. */
export const reportingApplication = (
  body: MetricsBody,
  environment: string,
  caller: Caller,
): ReportedApplicationInstance => applicationReport(body, environment, caller);

/** The applications that a proxy reports, each instance once. */
export const proxiedApplications = (body: BulkMetricsBody, caller: Caller): ReportedApplicationInstance[] => {
  const seen = new Map<string, ReportedApplicationInstance>();
  const named = new Set<string>();
  const keyOf = (appName: string, environment: string): string => JSON.stringify([appName, environment]);
  for (const application of body.applications) {
    const environment = reportingEnvironment(caller, application.environment);
    const name = keyOf(application.appName, environment);
    const key = JSON.stringify([name, application.instanceId]);
    if (!seen.has(key)) seen.set(key, applicationReport(application, environment, caller));
    named.add(name);
  }
  for (const { appName, environment } of body.metrics) {
    const key = keyOf(appName, environment);
    if (named.has(key) || !may(caller, ['CLIENT'], { environment })) continue;
    named.add(key);
    const { instanceId: _, ...application } = applicationReport({ appName }, environment, caller);
    seen.set(key, application);
  }
  return [...seen.values()];
};

/**
 * The stages that a feature enters when its first figures come: `pre-live` from any environment, `live` from one for
 * production in which it is on. A feature enters each stage once.
 */
export const stagesToEnter = (
  { stages, enabledIn }: ReportedFeature,
  reportedIn: readonly string[],
  typeOf: ReadonlyMap<string, string>,
  now: string,
): EnteredStage[] => {
  const isLive = reportedIn.some((name) => typeOf.get(name) === 'production' && enabledIn.includes(name));
  const reached = isLive ? (['pre-live', 'live'] as const) : (['pre-live'] as const);
  return reached.filter((stage) => !stages.includes(stage)).map((stage) => ({ stage, enteredStageAt: now }));
};
