import type { ChangeRequestOverwrite } from '@bunting/contracts';
import type { Dependency, Feature } from '../../features/feature.ts';
import { findNewerEdits, type SnapshotComparison } from '../compare-snapshots.ts';

/** The snapshot of the dependencies of a feature; null for none. */
export const dependencySnapshot = ({ dependencies }: Feature) => (dependencies.length > 0 ? { dependencies } : null);

const none = { dependencies: [] };

/** The edits that setting the dependencies overwrites. No dependency is a state, too: one that was added since is overwritten. */
export const findOverwrittenDependencies = (
  { snapshot, current }: SnapshotComparison,
  dependencies: readonly Partial<Dependency>[],
): ChangeRequestOverwrite[] =>
  findNewerEdits({ snapshot: snapshot ?? none, current: current ?? none }, { dependencies });
