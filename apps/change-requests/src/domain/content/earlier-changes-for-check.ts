import { type Change, type ChangeAction, isSegmentChange } from '@bunting/contracts';
import type { ProposedChange } from '../../requests/change-request.ts';
import { parentFeatureOf } from '../../proposals/proposed-change.ts';

/** Whether changes affect dependencies between features, by action. */
const affectsDependencies: Readonly<Record<ChangeAction, boolean>> = {
  updateSegment: false,
  deleteSegment: false,
  updateEnabled: false,
  addStrategy: false,
  updateStrategy: false,
  deleteStrategy: false,
  archiveFeature: true,
  patchVariant: false,
  reorderStrategy: false,
  addDependency: true,
  deleteDependency: true,
};

/**
 * The earlier changes that can affect the check of newer ones. Changes of other features matter only for dependencies and for uses of a
 * segment, so the cost of adding does not grow with the size of the request.
 */
export const earlierChangesForCheck = (
  newer: readonly Change[],
  earlier: readonly ProposedChange[],
): readonly ProposedChange[] => {
  // Any strategy of the project may use the segment, and an earlier change may have taken it away there.
  if (newer.some(({ action }) => action === 'deleteSegment')) return earlier;
  const features = new Set(
    newer.flatMap((change) => (isSegmentChange(change) ? [] : [change.feature, parentFeatureOf(change)])),
  );
  const changesDependencies = newer.some(({ action }) => affectsDependencies[action]);
  return earlier.filter(
    ({ action, feature, segment }) =>
      segment !== null ||
      (feature !== null && features.has(feature)) ||
      (changesDependencies && affectsDependencies[action]),
  );
};
