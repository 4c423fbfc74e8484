import type { Caller } from '@bunting/contracts';
import { withCollaborator } from '../../domain/features/feature-rules.ts';
import type { Feature } from '../../domain/features/feature.ts';
import type { Transaction } from '../../persistence/unit-of-work.ts';

/** Emits that a feature became a favourite of the caller, or ceased to be one. */
export const emitFavoriteEvent = async (
  { features, events }: Pick<Transaction, 'features' | 'events'>,
  type: 'feature-favorited' | 'feature-unfavorited',
  feature: Feature,
  caller: Caller,
): Promise<void> => {
  // Saves a copy, which counts as changed: the state lists the users, even if the row stays the same.
  await features.save([{ ...withCollaborator(feature, caller) }]);
  events.emit([{ type, featureName: feature.name, data: { feature: feature.name }, tags: feature.tags }]);
};
