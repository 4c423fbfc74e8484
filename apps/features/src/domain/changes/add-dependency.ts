import * as dependencies from '../dependency.ts';
import { childrenOf } from './family.ts';
import type { FeatureRule } from './rule.ts';

/** Makes the feature depend on another, and on that one only. */
export const addDependency: FeatureRule<'addDependency'> = {
  phase: 5,
  culprit: '/payload/feature',
  replaces: (feature) => (feature.dependencies.length > 0 ? { dependencies: feature.dependencies } : null),
  decide: (child, { payload }, situation) => {
    const dependency = dependencies.normalDependency(payload.feature, payload.enabled, payload.variants);
    const family = {
      parent: situation.features.get(payload.feature),
      children: childrenOf(situation, child.name),
    };
    const decision = dependencies.addDependency(child, dependency, family);
    return { subject: decision.feature, events: decision.events, payload: dependency };
  },
};
