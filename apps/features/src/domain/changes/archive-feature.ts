import * as features from '../feature-rules.ts';
import { childrenOf } from './family.ts';
import type { FeatureRule } from './rule.ts';

/** Archives the feature in every environment, when no active feature depends on it any more. */
export const archiveFeature: FeatureRule<'archiveFeature'> = {
  phase: 7,
  culprit: '/feature',
  replaces: () => null,
  decide: (feature, _, situation) => {
    const decision = features.archiveFeature(feature, { children: childrenOf(situation, feature.name) }, situation.now);
    return { subject: decision.feature, events: decision.events, payload: {} };
  },
};
