import type { ChangeRequestOverwrite } from '@bunting/contracts';
import type { Dependency, Feature } from '../features/feature.ts';
import { findNewerEdits, type SnapshotComparison } from './snapshots.ts';

/** The snapshot of the dependencies of a feature; null for none. */
export const dependencySnapshot = ({ dependencies }: Feature) => (dependencies.length > 0 ? { dependencies } : null);

const noDependencies = { dependencies: [] };

/**
 * The edits that setting the dependencies overwrites. Having none is a state, too: a dependency that was added since the snapshot is
 * overwritten.
 */
export const findOverwrittenDependencies = (
  { snapshot, current }: SnapshotComparison,
  dependencies: readonly Partial<Dependency>[],
): ChangeRequestOverwrite[] =>
  findNewerEdits({ snapshot: snapshot ?? noDependencies, current: current ?? noDependencies }, { dependencies });
