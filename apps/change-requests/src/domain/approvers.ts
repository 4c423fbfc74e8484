import { refusal, type RequestedReviewer, type Reviewer } from '@bunting/contracts';
import type { ChangeRequest } from './change-request.ts';
import { requireAtRest } from './content.ts';

/**
 * Refuses to request approvals unless the user is the author and the request can still be approved. A requested approval is advisory:
 * any permitted reviewer may approve.
 */
export const requireMayRequestApproval = (request: ChangeRequest, userId: number): void => {
  if (request.createdBy.id !== userId) {
    throw refusal('NoAccessError', 'Only the author of a change request can ask for approvals');
  }
  requireAtRest(request);
  if (request.state !== 'Draft' && request.state !== 'In review') {
    throw refusal('ConflictError', `Nobody can be asked to approve a change request in state "${request.state}"`);
  }
};

/** The requested reviewers with their verdicts, in the order requested. A deleted user is listed by id alone. */
export const requestedReviewers = (
  request: readonly number[],
  reviewers: ReadonlyMap<number, Reviewer>,
  { approvals, rejections }: ChangeRequest,
): RequestedReviewer[] => {
  const approved = new Set(approvals.map(({ createdBy }) => createdBy.id));
  const rejected = new Set(rejections.map(({ createdBy }) => createdBy.id));
  return request.map((id) => ({
    ...(reviewers.get(id) ?? { id }),
    status: rejected.has(id) ? 'rejected' : approved.has(id) ? 'approved' : 'pending',
  }));
};
