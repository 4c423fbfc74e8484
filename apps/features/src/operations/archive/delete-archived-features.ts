import { deleteIfArchived } from '../../domain/features/delete-if-archived.ts';
import type { Feature } from '../../domain/features/feature.ts';
import type { Transaction } from '../../persistence/unit-of-work.ts';

/** Deletes those of the features that are archived, and emits the events. The others stay. */
export const deleteArchivedFeatures = async (
  { features: repository, events }: Pick<Transaction, 'features' | 'events'>,
  features: readonly Feature[],
): Promise<void> => {
  const decision = deleteIfArchived(features);
  await repository.remove(decision.features);
  events.emit(decision.events);
};
