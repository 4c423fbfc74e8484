import { refusal } from '@bunting/contracts';
import { limitExceeded } from '../../domain/refusals.ts';
import type { Transaction } from '../../persistence/unit-of-work.ts';

interface AddedFeatures {
  readonly project: string;
  /** the maximum number of active features of the project; null for no limit */
  readonly projectFeatureLimit: number | null;
  /** the maximum number of active features in all projects; undefined for no limit */
  readonly instanceFeatureLimit: number | undefined;
  /** the number of features to add */
  readonly adding: number;
}

/** Refuses features that would exceed a limit. Concurrent transactions that add features wait, so that the limits are exact. */
export const requireBelowLimits = async (
  { projects }: Pick<Transaction, 'projects'>,
  { project, projectFeatureLimit, instanceFeatureLimit, adding }: AddedFeatures,
): Promise<void> => {
  if (projectFeatureLimit !== null && (await projects.lockAndCountFeatures(project)) + adding > projectFeatureLimit) {
    throw refusal('InvalidOperationError', 'You have reached the maximum number of feature flags for this project.');
  }
  if (
    instanceFeatureLimit !== undefined &&
    (await projects.lockAndCountFeatures(undefined)) + adding > instanceFeatureLimit
  ) {
    throw limitExceeded('feature flag', instanceFeatureLimit);
  }
};
