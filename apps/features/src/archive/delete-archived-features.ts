import { deleteIfArchived } from './delete-if-archived.ts';
import type { Feature } from '../features/feature.ts';
import type { Transaction } from '../unit-of-work/unit-of-work.ts';

/** Deletes those of the features that are archived. The others stay. */
export const deleteArchivedFeatures = async (
  { features: repository }: Pick<Transaction, 'features'>,
  features: readonly Feature[],
): Promise<void> => {
  const decision = deleteIfArchived(features);
  await repository.remove(decision.features, decision.events);
};
