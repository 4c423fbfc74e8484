import type { Caller } from '@bunting/contracts';
import type { Feature } from '../../domain/features/feature.ts';
import { hasNoStrategy } from '../../domain/environments/enable-feature.ts';
import { authorise } from '../authorise.ts';

/**
 * Authorises the caller to add the default strategy to those of the features that have none and are enabled. Adding it beside disabled
 * strategies takes no permission, as in Unleash.
 */
export const authoriseDefaultStrategy = (
  caller: Caller,
  features: readonly Feature[],
  where: { readonly project: string; readonly environment: string },
): void => {
  const addsFirst = features.some((feature) => hasNoStrategy(feature, where.environment));
  if (addsFirst) authorise(caller, 'CREATE_FEATURE_STRATEGY', where);
};
