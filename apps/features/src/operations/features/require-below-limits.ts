import { refusal } from '@bunting/contracts';
import { tooMany } from '../../domain/refusals.ts';
import type { Transaction } from '../../persistence/unit-of-work.ts';

/** How many active features there may be, in a project and in all; as many as wanted where nothing is said. */
export interface FeatureLimits {
  readonly project: string;
  readonly featureLimit: number | null;
  readonly limit: number | undefined;
  /** how many there are to be more */
  readonly adding: number;
}

/** Refuses features for which there is no room. Whoever adds others at the same time waits, so the limits hold exactly. */
export const requireBelowLimits = async (
  { projects }: Pick<Transaction, 'projects'>,
  { project, featureLimit, limit, adding }: FeatureLimits,
): Promise<void> => {
  if (featureLimit !== null && (await projects.lockAndCountFeatures(project)) + adding > featureLimit) {
    throw refusal('InvalidOperationError', 'You have reached the maximum number of feature flags for this project.');
  }
  if (limit !== undefined && (await projects.lockAndCountFeatures(undefined)) + adding > limit) {
    throw tooMany('feature flag', limit);
  }
};
