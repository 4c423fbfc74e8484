import { featureWithoutEnvironments } from '../features/feature-without-environments.ts';
import { type DomainEvent, type Feature, featureEvent } from '../features/feature.ts';

/** The features to delete, and the events of their deletion. */
export interface DeletionDecision {
  readonly features: readonly Feature[];
  readonly events: readonly DomainEvent[];
}

/** Deletes those of the features that are archived. The others stay. */
export const deleteIfArchived = (features: readonly Feature[]): DeletionDecision => {
  const archived = features.filter(({ archivedAt }) => archivedAt !== null);
  const events = archived.map((feature) =>
    featureEvent('feature-deleted', feature, { preData: featureWithoutEnvironments(feature) }),
  );
  return { features: archived, events };
};
