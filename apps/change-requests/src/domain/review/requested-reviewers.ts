import { invalid, refusal, type RequestedReviewer, type Reviewer } from '@bunting/contracts';
import type { ChangeRequest } from '../../requests/change-request.ts';
import { requireNotBeingApplied } from '../require-not-being-applied.ts';
import { onlyAuthorCan } from '../refusals.ts';

/**
 * Refuses to request approvals unless the user is the author and the request can still be approved. A requested approval is advisory:
 * any permitted reviewer may approve.
 */
export const requireMayRequestApproval = (request: ChangeRequest, userId: number): void => {
  if (request.createdBy.id !== userId) throw onlyAuthorCan('ask for approvals');
  requireNotBeingApplied(request);
  if (request.state !== 'Draft' && request.state !== 'In review') {
    throw refusal('ConflictError', `Approvals cannot be requested for a change request in state "${request.state}"`);
  }
};

/** Refuses a reviewer who is no active user. */
export const requireActiveReviewers = (reviewerIds: readonly number[], activeIds: ReadonlySet<number>): void => {
  const missing = reviewerIds.findIndex((id) => !activeIds.has(id));
  if (missing < 0) return;
  const path = `/body/reviewers/${missing}`;
  throw invalid(
    `The \`${path}\` property must be the id of an active user. You provided ${reviewerIds[missing]}.`,
    path,
  );
};

/** The requested reviewers with the state of their reviews, in the order requested. A deleted user is listed by id alone. */
export const requestedReviewersWithStatus = (
  reviewerIds: readonly number[],
  reviewers: ReadonlyMap<number, Reviewer>,
  { approvals, rejections }: ChangeRequest,
): RequestedReviewer[] => {
  const approved = new Set(approvals.map(({ createdBy }) => createdBy.id));
  const rejected = new Set(rejections.map(({ createdBy }) => createdBy.id));
  return reviewerIds.map((id) => ({
    ...(reviewers.get(id) ?? { id }),
    status: rejected.has(id) ? 'rejected' : approved.has(id) ? 'approved' : 'pending',
  }));
};
