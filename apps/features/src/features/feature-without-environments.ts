import type { FeatureWithoutEnvironments } from '@bunting/contracts';
import type { Feature } from './feature.ts';
import { changeMetadata } from './metadata.ts';

/** A feature without its environments, as it is in the replies to writes of the feature itself and in events. */
export const featureWithoutEnvironments = (feature: Feature): FeatureWithoutEnvironments => ({
  name: feature.name,
  ...changeMetadata(feature),
  project: feature.project,
  createdAt: feature.createdAt,
  archived: feature.archivedAt !== null,
  archivedAt: feature.archivedAt,
  lastSeenAt: null,
});
