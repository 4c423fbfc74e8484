import {
  type Caller,
  type FeatureChange,
  maxChangesPerChangeRequest,
  type Refusal,
  refusal,
  requireMayPropose,
} from '@bunting/contracts';

/** A proposal must fit into one message of the bus; the bus carries imports of up to 16 MB. */
const maxProposalBytes = 8 * 1024 * 1024;

const tooManyFeatures = (reason: string): Refusal => {
  const message = `The import takes a change request of ${reason}. Import fewer features.`;
  return refusal('ExceedsLimitError', message, { details: [{ message, path: '/body/data/features' }] });
};

/** Refuses changes that exceed a change request, or that the caller may not propose. */
export const requireProposable = (caller: Caller, project: string, changes: readonly FeatureChange[]): void => {
  requireMayPropose(caller, project);
  if (changes.length > maxChangesPerChangeRequest) {
    throw tooManyFeatures(`${changes.length} changes, and one can hold at most ${maxChangesPerChangeRequest}`);
  }
};

/** Refuses a proposal that is too large, with the snapshots of its changes. */
export const requireProposalSize = (bytes: number): void => {
  if (bytes > maxProposalBytes)
    throw tooManyFeatures(`more than ${maxProposalBytes} bytes, with what it would replace`);
};
