import type { Feature } from '../../domain/features/feature.ts';
import type { Transaction } from '../../persistence/unit-of-work.ts';

/**
 * Emits that a feature became a favourite of the caller, or ceased to be one, with its state, which lists the users. The feature itself
 * does not change: its tag stays, and the caller is no collaborator.
 */
export const emitFavoriteEvent = (
  { features, events }: Pick<Transaction, 'features' | 'events'>,
  type: 'feature-favorited' | 'feature-unfavorited',
  feature: Feature,
): void => {
  features.emitStates([feature.name]);
  events.emit([{ type, featureName: feature.name, data: { feature: feature.name }, tags: feature.tags }]);
};
