import { deleteFeature } from '../../domain/features/archive.ts';
import type { Feature } from '../../domain/features/feature.ts';
import type { Transaction } from '../../persistence/unit-of-work.ts';

/** Deletes the archived ones of the features and records the events. */
export const deleteArchived = async (
  { features: repository, events }: Pick<Transaction, 'features' | 'events'>,
  features: readonly Feature[],
): Promise<void> => {
  const deletions = features.map(deleteFeature).filter((decision) => decision.events.length > 0);
  await repository.remove(deletions.map(({ feature }) => feature));
  events.emit(deletions.flatMap((decision) => decision.events));
};
