import { refusal, type RequestedReviewer, type Reviewer } from '@bunting/contracts';
import type { ChangeRequest } from './change-request.ts';
import { requireAtRest } from './content.ts';

/** Whose approval is wished for, their author says, and as long as it is still to be given. It is a wish, and no rule. */
export const requireAskable = (request: ChangeRequest, userId: number): void => {
  if (request.createdBy.id !== userId) {
    throw refusal('NoAccessError', 'Only the author of a change request can ask for approvals');
  }
  requireAtRest(request);
  if (request.state !== 'Draft' && request.state !== 'In review') {
    throw refusal('ConflictError', `Nobody can be asked to approve a change request in state "${request.state}"`);
  }
};

/** Those whose approval is asked for, with what they have decided; of one who is gone nothing but the id is known. */
export const askedReviewers = (
  request: readonly number[],
  known: ReadonlyMap<number, Reviewer>,
  { approvals, rejections }: ChangeRequest,
): RequestedReviewer[] => {
  const approved = new Set(approvals.map(({ createdBy }) => createdBy.id));
  const rejected = new Set(rejections.map(({ createdBy }) => createdBy.id));
  return request.map((id) => ({
    ...(known.get(id) ?? { id }),
    status: rejected.has(id) ? 'rejected' : approved.has(id) ? 'approved' : 'pending',
  }));
};
