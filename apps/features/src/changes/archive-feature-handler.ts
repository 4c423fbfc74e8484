import * as features from '../archive/archive-feature.ts';
import { childrenOf } from './state-after-changes.ts';
import type { FeatureActionHandler } from './action-handler.ts';

/** Archives the feature in every environment, when no active feature depends on it any more. */
export const archiveFeatureHandler: FeatureActionHandler<'archiveFeature'> = {
  phase: 'archive features',
  errorPath: '/feature',
  alsoReads: () => ({}),
  snapshot: () => null,
  overwrites: () => [],
  decide: (feature, _, context) => {
    const decision = features.archiveFeature(feature, childrenOf(context, feature.name), context.now);
    return { subject: decision.feature, events: decision.events, payload: {} };
  },
  conflict: ({ message }) => ({ code: 'has-children', message }),
};
