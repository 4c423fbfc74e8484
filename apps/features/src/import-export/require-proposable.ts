import {
  type Caller,
  type FeatureChange,
  maxBytesPerChangeRequest,
  maxChangesPerChangeRequest,
  type Refusal,
  refusal,
  requireMayPropose,
} from '@bunting/contracts';

const tooLargeForChangeRequest = (reason: string): Refusal => {
  const message = `The import takes a change request of ${reason}. Import fewer features.`;
  return refusal('ExceedsLimitError', message, { details: [{ message, path: '/body/data/features' }] });
};

/** Refuses changes that exceed a change request, or that the caller may not propose. */
export const requireProposable = (caller: Caller, project: string, changes: readonly FeatureChange[]): void => {
  requireMayPropose(caller, project);
  if (changes.length > maxChangesPerChangeRequest) {
    throw tooLargeForChangeRequest(`${changes.length} changes, and one can hold at most ${maxChangesPerChangeRequest}`);
  }
};

/** Refuses a proposal that is too large, with the snapshots of its changes. */
export const requireProposalSize = (bytes: number): void => {
  if (bytes > maxBytesPerChangeRequest)
    throw tooLargeForChangeRequest(`more than ${maxBytesPerChangeRequest} bytes, with what it would replace`);
};
