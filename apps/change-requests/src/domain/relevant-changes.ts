import { type Change, isSegmentChange } from '@bunting/contracts';
import type { ProposedChange } from './change-request.ts';

/** What a change says about which features are parents of which. */
const family: ReadonlySet<string> = new Set(['addDependency', 'deleteDependency', 'archiveFeature']);

const parentOf = (change: Change): string[] => (change.action === 'addDependency' ? [change.payload.feature] : []);

/**
 * The earlier changes that newer ones must be checked on top of. Changes of other features say nothing about a feature,
 * except about its family and about who uses a segment: so the work of adding does not grow with what a request holds.
 */
export const relevantChanges = (
  newer: readonly Change[],
  earlier: readonly ProposedChange[],
): readonly ProposedChange[] => {
  // Any strategy of the project may use the segment, and an earlier change may have taken it away there.
  if (newer.some(({ action }) => action === 'deleteSegment')) return earlier;
  const features = new Set(
    newer.flatMap((change) => (isSegmentChange(change) ? [] : [change.feature, ...parentOf(change)])),
  );
  const changesFamily = newer.some(({ action }) => family.has(action));
  return earlier.filter(
    ({ action, feature, segment }) =>
      segment !== null || (feature !== null && features.has(feature)) || (changesFamily && family.has(action)),
  );
};
