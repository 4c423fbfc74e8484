import { type Change, isSegmentChange } from '@bunting/contracts';
import { handlerOf } from '../../domain/changes/action-handlers.ts';
import type { ChangeSubjects } from '../../persistence/changes/change-context-reader.ts';
import { collectReferenceCandidates } from '../reference-candidates.ts';

/** The features that a change edits or refers to. */
export const featuresOf = (change: Change): string[] => {
  const { features = [] } = handlerOf(change).alsoReads(change);
  return isSegmentChange(change) ? [...features] : [change.feature, ...features];
};

/** The segments that a change edits. */
export const segmentsOf = (change: Change): number[] => (isSegmentChange(change) ? [change.payload.id] : []);

/** The objects that changes edit or refer to. */
export const subjectsOf = (project: string, changes: readonly Change[]): ChangeSubjects => ({
  project,
  ...collectReferenceCandidates(changes),
  features: changes.flatMap(featuresOf),
  segments: changes.flatMap(segmentsOf),
  segmentNames: changes.flatMap((change) => handlerOf(change).alsoReads(change).segmentNames ?? []),
});
