import { type AppliedChanges, type ChangeRequestPreview, type Refusal, refusal } from '@bunting/contracts';

export type ApplyConflicts = AppliedChanges['conflicts'];

/** The conflicts in a preview, each with the feature or segment that it is about, and the change unless all of a feature are in conflict. */
export const conflictsInPreview = ({ features, segments }: ChangeRequestPreview): ApplyConflicts => [
  ...features.flatMap(({ name: feature, conflict, conflictCode = 'refused', changes }) => [
    ...(conflict === undefined ? [] : [{ code: conflictCode, message: conflict, feature }]),
    ...changes.flatMap(({ id: changeId, conflict: message, conflictCode: code = 'refused' }) =>
      message === undefined ? [] : [{ code, message, feature, changeId }],
    ),
  ]),
  ...segments.flatMap(({ id: segment, changes }) =>
    changes.flatMap(({ id: changeId, conflict: message, conflictCode: code = 'refused' }) =>
      message === undefined ? [] : [{ code, message, segment, changeId }],
    ),
  ),
];

/** 409 with each conflict as a detail; the first is the message. */
export const conflictRefusal = (conflicts: ApplyConflicts): Refusal =>
  refusal('ConflictError', conflicts[0]?.message ?? 'Change request is in conflict', { details: conflicts });
