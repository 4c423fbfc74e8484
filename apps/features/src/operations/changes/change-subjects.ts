import { type Change, isSegmentChange } from '@bunting/contracts';
import type { ChangeSubjects } from '../../persistence/changes/change-context-reader.ts';
import { possibleReferencesIn } from '../possible-references.ts';

/** The features that a change edits or refers to. */
export const featuresOf = (change: Change): string[] => {
  if (isSegmentChange(change)) return [];
  return change.action === 'addDependency' ? [change.feature, change.payload.feature] : [change.feature];
};

/** The objects that changes edit or refer to. */
export const subjectsOf = (project: string, changes: readonly Change[]): ChangeSubjects => {
  const ofSegments = changes.filter(isSegmentChange);
  return {
    project,
    ...possibleReferencesIn(changes),
    features: changes.flatMap(featuresOf),
    segments: ofSegments.map(({ payload }) => payload.id),
    segmentNames: ofSegments.flatMap((change) =>
      change.action === 'updateSegment' && change.payload.name !== undefined ? [change.payload.name] : [],
    ),
  };
};
