import { removeDependencies } from '../../features/parts/dependency.ts';
import type { FeatureRule } from '../rule.ts';
import { dependencySnapshot, overwrittenDependencies } from './dependency-rules.ts';

/** Makes the feature depend on no other. */
export const deleteDependencyRule: FeatureRule<'deleteDependency'> = {
  phase: 'remove dependencies',
  errorPath: '/feature',
  alsoReads: () => ({}),
  snapshot: dependencySnapshot,
  overwrites: (_, states) => overwrittenDependencies(states, []),
  decide: (feature) => {
    const decision = removeDependencies(feature);
    return { subject: decision.feature, events: decision.events, payload: {} };
  },
  conflict: () => undefined,
};
