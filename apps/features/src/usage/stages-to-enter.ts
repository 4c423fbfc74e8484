import type { EnteredStage } from '../features/feature.ts';

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
export const stagesToEnter = (
  { stages, enabledIn }: ReportedFeature,
  reportedEnvironments: readonly string[],
  environmentTypes: ReadonlyMap<string, string>,
  now: string,
): EnteredStage[] => {
  const isLive = reportedEnvironments.some(
    (name) => environmentTypes.get(name) === 'production' && enabledIn.includes(name),
  );
  const reached = isLive ? (['pre-live', 'live'] as const) : (['pre-live'] as const);
  return reached.filter((stage) => !stages.includes(stage)).map((stage) => ({ stage, enteredStageAt: now }));
};
