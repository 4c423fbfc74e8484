/** Why a change, or every change of a feature or segment, cannot be applied now. */
export const conflictCodes = [
  'feature-deleted',
  'feature-moved',
  'feature-archived',
  'environment-unlinked',
  'project-gone',
  'strategy-deleted',
  'strategy-limit',
  'strategy-type-gone',
  'segment-missing',
  'segment-foreign',
  'segment-in-use',
  'segment-name',
  /** the list of a segment has changed since the one that replaces it was uploaded, or that one is gone */
  'segment-list',
  'parent-missing',
  'parent-variant',
  'dependency-self',
  'dependency-project',
  'dependency-transitive',
  'has-children',
  /** applying would undo a newer edit */
  'overwrite',
  /** a rule refused the change for another reason */
  'invalid-payload',
  /** the features service refused the call */
  'refused',
  /** another attempt to apply the change request came first */
  'superseded',
  /** the change request was not approved for an environment that it affects, or its effect is another one since */
  'approvals-missing',
] as const;
export type ConflictCode = (typeof conflictCodes)[number];

/** A conflict as a code for programs and as text for users. */
export interface ConflictCause {
  readonly code: ConflictCode;
  /** has no full stop: messages embed it in sentences */
  readonly message: string;
}

/** The conflict of deleting a segment that a strategy uses, or would use after another change request. */
export function segmentInUse(name: string): ConflictCause {
  return {
    code: 'segment-in-use',
    message: `Segment ${name} is in use`,
  };
}

/** The conflict of every change in a project that was archived or deleted. */
export const projectGone: ConflictCause = { code: 'project-gone', message: 'Project is no longer available' };

/** The conflict of a change request whose effect is no longer the one that was approved. */
export const approvalOutdated: ConflictCause = {
  code: 'approvals-missing',
  message: 'The default strategy or a segment that the changes begin to use was edited after the approval',
};
