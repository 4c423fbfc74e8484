import { type BulkMetricsBody, type Caller, may, type MetricsBody } from '@bunting/contracts';
import { isApplicationName, type MissingFeature, unlistedApplication } from '../applications/application.ts';
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

function millisecondsOf(value: Timestamp, path: string): number {
  const time = new Date(value).getTime();
  if (Number.isNaN(time)) throw invalidPropertyValue('be a date and time that exists', path, value);
  return time;
}

/** The minute of a time. A time in the future, from a wrong clock of the application, counts as now. */
function minuteOf(time: number, now: Date): number {
  return Math.floor(Math.min(time, now.getTime()) / minuteMs);
}

function variantsOf(variants: Readonly<Record<string, number>> = {}): Record<string, number> {
  return Object.fromEntries(
    Object.entries(variants)
      .filter(([name, count]) => count > 0 && name.length <= 255)
      .slice(0, maxVariants),
  );
}

/** Whether the caller may report on features of a project. */
export function mayReportOn(caller: Caller, project: string): boolean {
  return may(caller, ['CLIENT', 'FRONTEND'], { project });
}

/** The counts of an application, without those that are zero. */
export function evaluationCounts(body: MetricsBody, environment: string, now: Date): EvaluationCount[] {
  const minute = minuteOf(millisecondsOf(body.bucket.stop, '/body/bucket/stop'), now);
  return Object.entries(body.bucket.toggles).flatMap(([feature, { yes = 0, no = 0, variants }]) =>
    yes === 0 && no === 0
      ? []
      : [{ feature, environment, appName: body.appName, minute, yes, no, variants: variantsOf(variants) }],
  );
}

/**
 * The counts that a proxy collected, in the environments that the caller may report for and without empty ones. A proxy reports
 * only the hour: its counts are assigned to the last minute of that hour, or to now if that is earlier.
 */
export function proxiedCounts({ metrics }: BulkMetricsBody, caller: Caller, now: Date): EvaluationCount[] {
  return metrics.flatMap(({ featureName, environment, appName, timestamp, yes = 0, no = 0, variants }, index) => {
    const minute = minuteOf(millisecondsOf(timestamp, `/body/metrics/${index}/timestamp`), now);
    if ((yes === 0 && no === 0) || !isApplicationName(appName) || !may(caller, ['CLIENT'], { environment })) return [];
    const endOfHour = Math.floor(minute / minutesPerHour) * minutesPerHour + minutesPerHour - 1;
    const countedMinute = Math.min(endOfHour, Math.floor(now.getTime() / minuteMs));
    return [
      { feature: featureName, environment, appName, minute: countedMinute, yes, no, variants: variantsOf(variants) },
    ];
  });
}

/** The facts that decide which lifecycle stages a reported feature enters. */
export interface ReportedFeature {
  readonly name: string;
  readonly project: string;
  /** the stages that it has entered */
  readonly stages: readonly string[];
  /** the reported environments in which it is on */
  readonly enabledIn: readonly string[];
}

/**
 * The stages that a feature enters when its first evaluations are reported: `pre-live` in any environment, `live` in a production
 * environment where it is on. A feature enters each stage once.
 */
export function stagesToEnter(
  { stages, enabledIn }: ReportedFeature,
  reportedEnvironments: readonly string[],
  environmentTypes: ReadonlyMap<string, string>,
  now: string,
): EnteredStage[] {
  const isLive = reportedEnvironments.some(
    (name) => environmentTypes.get(name) === 'production' && enabledIn.includes(name),
  );
  const reached = isLive ? (['pre-live', 'live'] as const) : (['pre-live'] as const);
  return reached.filter((stage) => !stages.includes(stage)).map((stage) => ({ stage, enteredStageAt: now }));
}

/** The maximum number of missing features that one report adds. */
const maxMissingPerReport = 1_000;
/** A longer name is none that a feature can have, and would not fit into an index of PostgreSQL. */
const maxMissingNameLength = 255;

/** A feature, and the lifecycle stages that it enters, if any. */
export interface FeatureStages {
  readonly name: string;
  readonly stages: readonly EnteredStage[];
}

/** The counts of a report, those of unlisted applications under the name `unlistedApplication`. */
export function replaceUnlistedNames(
  counts: readonly EvaluationCount[],
  listed: ReadonlySet<string>,
): readonly EvaluationCount[] {
  return counts.map((count) => (listed.has(count.appName) ? count : { ...count, appName: unlistedApplication }));
}

/** The counts of a report for existing features, and the missing features in it. */
export interface MatchedCounts {
  /** the reported features that exist in the projects of the token */
  readonly features: readonly ReportedFeature[];
  readonly counts: readonly EvaluationCount[];
  /** the features that applications evaluated but that do not exist, or are outside of the projects of the token */
  readonly missing: readonly MissingFeature[];
}

/** Separates the counts of features on which the caller may report from those of missing features. */
export function matchCounts(
  reported: readonly EvaluationCount[],
  found: readonly ReportedFeature[],
  caller: Caller,
): MatchedCounts {
  const features = found.filter(({ project }) => mayReportOn(caller, project));
  const existing = new Set(features.map(({ name }) => name));
  const missing = new Map<string, MissingFeature>();
  for (const { appName, environment, feature } of reported) {
    if (existing.has(feature) || appName === unlistedApplication || feature.length > maxMissingNameLength) continue;
    missing.set(JSON.stringify([appName, environment, feature]), { appName, environment, feature });
  }
  return {
    features,
    counts: reported.filter(({ feature }) => existing.has(feature)),
    missing: [...missing.values()].slice(0, maxMissingPerReport),
  };
}

function environmentsByFeature(counts: readonly EvaluationCount[]): Map<string, Set<string>> {
  const byFeature = new Map<string, Set<string>>();
  for (const { feature, environment } of counts) {
    const environments = byFeature.get(feature);
    if (environments === undefined) byFeature.set(feature, new Set([environment]));
    else environments.add(environment);
  }
  return byFeature;
}

/** The features that enter lifecycle stages because of the counts, with those stages. @param environmentTypes by name of the environment */
export function findFeaturesEnteringStages(
  features: readonly ReportedFeature[],
  counts: readonly EvaluationCount[],
  environmentTypes: ReadonlyMap<string, string>,
  now: string,
): FeatureStages[] {
  const reportedEnvironments = environmentsByFeature(counts);
  return features
    .map((feature) => ({
      name: feature.name,
      stages: stagesToEnter(feature, [...(reportedEnvironments.get(feature.name) ?? [])], environmentTypes, now),
    }))
    .filter(({ stages }) => stages.length > 0);
}
