import type { Caller } from '@bunting/contracts';
import { collaborated } from '../../domain/feature-rules.ts';
import type { Feature } from '../../domain/feature.ts';
import type { Transaction } from '../../persistence/unit-of-work.ts';

/** Tells that a feature became a favourite of the caller, or is none any more. */
export const recordFavorite = async (
  { features, events }: Pick<Transaction, 'features' | 'events'>,
  type: 'feature-favorited' | 'feature-unfavorited',
  feature: Feature,
  caller: Caller,
): Promise<void> => {
  // A copy counts as changed: its state, which says whose favourite it is, is told even where its row says the same.
  await features.save([{ ...collaborated(feature, caller) }]);
  events.record([{ type, featureName: feature.name, data: { feature: feature.name }, tags: feature.tags }]);
};
