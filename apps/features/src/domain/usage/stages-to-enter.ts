import type { EnteredStage } from '../features/feature.ts';

/** What decides which stages of its life a reported feature enters. */
export interface ReportedFeature {
  readonly name: string;
  readonly project: string;
  /** the stages that it has entered */
  readonly stages: readonly string[];
  /** those of the reported environments in which it is on */
  readonly enabledIn: readonly string[];
}

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
