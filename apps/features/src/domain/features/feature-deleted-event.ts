import { type DomainEvent, type Feature, featureEvent } from './feature.ts';
import { featureWithoutEnvironments } from './feature-without-environments.ts';

/** The event of deleting a feature. Only an archived feature can be deleted. */
export const featureDeletedEvent = (feature: Feature): DomainEvent =>
  featureEvent('feature-deleted', feature, { preData: featureWithoutEnvironments(feature) });
