import { requireWithinInstanceLimit, requireWithinProjectLimit } from './feature-limits.ts';
import type { Transaction } from '../unit-of-work/unit-of-work.ts';

export interface AddedFeatures {
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
  if (projectFeatureLimit !== null) {
    const features = (await projects.lockAndCountFeatures(project)) + adding;
    requireWithinProjectLimit({ limit: projectFeatureLimit, features });
  }
  if (instanceFeatureLimit !== undefined) {
    const features = (await projects.lockAndCountFeatures(undefined)) + adding;
    requireWithinInstanceLimit({ limit: instanceFeatureLimit, features });
  }
};
