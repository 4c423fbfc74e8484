import { removeDependencies } from '../../features/parts/dependency.ts';
import type { FeatureRule } from '../rule.ts';

/** Makes the feature depend on no other. */
export const removeAllDependenciesRule: FeatureRule<'deleteDependency'> = {
  phase: 'remove dependencies',
  errorPath: '/feature',
  snapshot: (feature) => (feature.dependencies.length > 0 ? { dependencies: feature.dependencies } : null),
  decide: (feature) => {
    const decision = removeDependencies(feature);
    return { subject: decision.feature, events: decision.events, payload: {} };
  },
};
