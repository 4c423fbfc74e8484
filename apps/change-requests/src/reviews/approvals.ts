import { isClosedState, systemCaller } from '@bunting/contracts';
import { type ChangeRequest, type ChangeRequestDecision, withoutEvents } from '../requests/change-request.ts';
import { eventOf } from '../requests/events.ts';
import { type NewComment, withComment } from '../domain/title-and-comments.ts';

/** What decides whether the approvals of a request suffice. */
export interface ApprovalFacts {
  /** the number of approvals that the request needs now */
  readonly minApprovals: number;
  /** whether the user of an approval may approve the request now */
  readonly mayApprove: (userId: number) => boolean;
}

const approvalsThatCount = ({ approvals }: ChangeRequest, { mayApprove }: ApprovalFacts) =>
  approvals.filter(({ createdBy }) => mayApprove(createdBy.id));

const isReviewed = ({ state }: Pick<ChangeRequest, 'state'>): boolean => state === 'Approved' || state === 'Scheduled';

/**
 * The reason to take back approvals of a request, as people read it: users who may not approve any more, or too few approvals for what it
 * needs now. Undefined if there is none. A closed request keeps the approvals with which it was decided.
 */
export const reasonToTakeBack = (request: ChangeRequest, facts: ApprovalFacts): string | undefined => {
  if (isClosedState(request.state)) return undefined;
  const { approvals } = request;
  const counting = approvalsThatCount(request, facts);
  // Without names, which are erased when users are deleted.
  const lost = approvals.filter((approval) => !counting.includes(approval)).map(({ createdBy }) => createdBy.id);
  const lacks = isReviewed(request) && counting.length < facts.minApprovals;
  if (lost.length === 0 && !lacks) return undefined;
  const left = `The change request has ${counting.length} of the ${facts.minApprovals} approvals that it needs now`;
  if (lost.length === 0) return left;
  return `The approval of a user who may no longer approve (user id: ${lost.join(', ')}) was removed. ${left}`;
};

/**
 * Takes back the approvals that no longer count. A request that was approved or scheduled and lacks approvals now returns to review. The reason is
 * added as a comment, and to the event.
 */
export const takeBackApprovals = (
  before: ChangeRequest,
  facts: ApprovalFacts,
  comment: NewComment,
  now: Date,
): ChangeRequestDecision => {
  const actor = { by: { id: systemCaller.id, name: systemCaller.name }, now };
  const approvals = approvalsThatCount(before, facts);
  const commented = withComment({ ...before, approvals }, comment, actor);
  if (!isReviewed(before) || approvals.length >= facts.minApprovals) return withoutEvents(commented);
  const state = 'In review';
  const stateTimestamps = { ...before.stateTimestamps, [state]: now.toISOString() };
  const request: ChangeRequest = { ...commented, state, stateTimestamps, schedule: null };
  const details = { data: { reason: comment.text }, preData: { state: before.state } };
  return { request, events: [eventOf('change-request-sent-to-review', request, actor, details)] };
};
