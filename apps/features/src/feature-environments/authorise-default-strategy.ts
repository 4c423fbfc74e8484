import { authorise, type Caller } from '@bunting/contracts';
import type { Feature } from '../features/feature.ts';
import { hasNoStrategy } from './switch-feature.ts';

/**
 * Authorises the caller to enable features of which some have no strategy, not even a disabled one, and get the default strategy. Adding it
 * to a feature with disabled strategies requires no permission, as in Unleash.
 */
export const authoriseDefaultStrategy = (
  caller: Caller,
  features: readonly Feature[],
  where: { readonly project: string; readonly environment: string },
): void => {
  const addsFirstStrategy = features.some((feature) => hasNoStrategy(feature, where.environment));
  if (addsFirstStrategy) authorise(caller, 'CREATE_FEATURE_STRATEGY', where);
};
