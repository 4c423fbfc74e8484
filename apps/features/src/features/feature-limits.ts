import { limitExceeded, refusal } from '@bunting/contracts';

/** Numbers of active features: the maximum, and how many there would be. */
export interface FeatureCount {
  readonly limit: number;
  readonly features: number;
}

/** Refuses more active features than a project may have. */
export const requireWithinProjectLimit = ({ limit, features }: FeatureCount): void => {
  if (features <= limit) return;
  throw refusal('InvalidOperationError', 'You have reached the maximum number of feature flags for this project.');
};

/** Refuses more active features than all projects together may have. */
export const requireWithinInstanceLimit = ({ limit, features }: FeatureCount): void => {
  if (features > limit) throw limitExceeded('feature flag', limit);
};
