import type { Feature } from '../../domain/features/feature.ts';
import { featureDeletedEvent } from '../../domain/features/feature-deleted-event.ts';
import type { Transaction } from '../../persistence/unit-of-work.ts';

/** Deletes those of the features that are archived, and emits the events. The others stay. */
export const deleteArchivedFeatures = async (
  { features: repository, events }: Pick<Transaction, 'features' | 'events'>,
  features: readonly Feature[],
): Promise<void> => {
  const archived = features.filter(({ archivedAt }) => archivedAt !== null);
  await repository.remove(archived);
  events.emit(archived.map(featureDeletedEvent));
};
