import type { Caller } from '@bunting/contracts';
import type { EnteredStage } from '../features/feature.ts';
import { type MissingFeature, unlistedApplication } from '../applications/admit-applications.ts';
import { type EvaluationCount, mayReportOn } from './evaluation-counts.ts';
import { type ReportedFeature, stagesToEnter } from './stages-to-enter.ts';

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
export const replaceUnlistedNames = (
  counts: readonly EvaluationCount[],
  listed: ReadonlySet<string>,
): readonly EvaluationCount[] =>
  counts.map((count) => (listed.has(count.appName) ? count : { ...count, appName: unlistedApplication }));

/** The counts of a report for existing features, and the missing features in it. */
export interface MatchedCounts {
  /** the reported features that exist in the projects of the token */
  readonly features: readonly ReportedFeature[];
  /** the counts of these features */
  readonly counts: readonly EvaluationCount[];
  /** the features that applications evaluated but that do not exist, or are outside of the projects of the token */
  readonly missing: readonly MissingFeature[];
}

/** Separates the counts of features on which the caller may report from those of missing features. */
export const matchCounts = (
  reported: readonly EvaluationCount[],
  found: readonly ReportedFeature[],
  caller: Caller,
): MatchedCounts => {
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
};

const environmentsByFeature = (counts: readonly EvaluationCount[]): Map<string, Set<string>> => {
  const byFeature = new Map<string, Set<string>>();
  for (const { feature, environment } of counts) {
    const environments = byFeature.get(feature);
    if (environments === undefined) byFeature.set(feature, new Set([environment]));
    else environments.add(environment);
  }
  return byFeature;
};

/** The features that enter lifecycle stages because of the counts, with those stages. @param environmentTypes by name of the environment */
export const findFeaturesEnteringStages = (
  features: readonly ReportedFeature[],
  counts: readonly EvaluationCount[],
  environmentTypes: ReadonlyMap<string, string>,
  now: string,
): FeatureStages[] => {
  const reportedEnvironments = environmentsByFeature(counts);
  return features
    .map((feature) => ({
      name: feature.name,
      stages: stagesToEnter(feature, [...(reportedEnvironments.get(feature.name) ?? [])], environmentTypes, now),
    }))
    .filter(({ stages }) => stages.length > 0);
};
