import { refusal } from '@bunting/contracts';
import { limitExceeded } from '../../domain/refusals.ts';
import type { Transaction } from '../../persistence/unit-of-work.ts';

/** The limits of active features, in a project and in all projects; null and undefined mean no limit. */
interface FeatureLimits {
  readonly project: string;
  readonly featureLimit: number | null;
  readonly limit: number | undefined;
  /** the number of features to add */
  readonly adding: number;
}

/** Refuses features that would exceed a limit. Concurrent transactions that add features wait, so that the limits are exact. */
export const requireBelowLimits = async (
  { projects }: Pick<Transaction, 'projects'>,
  { project, featureLimit, limit, adding }: FeatureLimits,
): Promise<void> => {
  if (featureLimit !== null && (await projects.lockAndCountFeatures(project)) + adding > featureLimit) {
    throw refusal('InvalidOperationError', 'You have reached the maximum number of feature flags for this project.');
  }
  if (limit !== undefined && (await projects.lockAndCountFeatures(undefined)) + adding > limit) {
    throw limitExceeded('feature flag', limit);
  }
};
