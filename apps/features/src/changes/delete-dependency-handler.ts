import { removeDependencies } from '../dependencies/dependency.ts';
import type { FeatureActionHandler } from './action-handler.ts';
import { dependencySnapshot, findOverwrittenDependencies } from './dependency-snapshot.ts';

/** Makes the feature depend on no other. */
export const deleteDependencyHandler: FeatureActionHandler<'deleteDependency'> = {
  phase: 'remove dependencies',
  errorPath: '/feature',
  alsoReads: () => ({}),
  snapshot: dependencySnapshot,
  overwrites: (_, states) => findOverwrittenDependencies(states, []),
  decide: (feature) => {
    const decision = removeDependencies(feature);
    return { subject: decision.feature, events: decision.events, payload: {} };
  },
  conflict: () => undefined,
};
