import { type Change, isSegmentChange } from '@bunting/contracts';
import { changedSegments } from '../../domain/changes/changed-subjects.ts';
import { handlerOf } from '../../domain/changes/action-handlers.ts';
import type { ChangeSubjects } from '../../persistence/changes/change-context-reader.ts';
import { collectReferenceCandidates } from '../reference-candidates.ts';

/** The features that changes edit or refer to. */
export const featuresIn = (changes: readonly Change[]): string[] =>
  changes.flatMap((change) => {
    const { features = [] } = handlerOf(change).alsoReads(change);
    return isSegmentChange(change) ? [...features] : [change.feature, ...features];
  });

/** The objects that changes edit or refer to. */
export const subjectsOf = (project: string, changes: readonly Change[]): ChangeSubjects => ({
  project,
  ...collectReferenceCandidates(changes),
  features: featuresIn(changes),
  segments: changedSegments(changes),
  segmentNames: changes.flatMap((change) => handlerOf(change).alsoReads(change).segmentNames ?? []),
});
