import { type DomainEvent, type Feature, featureEvent } from './feature.ts';
import { storedFeature } from './feature-rules.ts';

/** The event of deleting a feature. Only an archived feature can be deleted. */
export const featureDeleted = (feature: Feature): DomainEvent =>
  featureEvent('feature-deleted', feature, { preData: storedFeature(feature) });
