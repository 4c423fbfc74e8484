import {
  adminTokenUserId,
  affectedEnvironments,
  type Caller,
  invalid,
  isClosedState,
  isEqual,
  refusal,
  type RequestedReviewer,
  type Reviewer,
  systemCaller,
} from '@bunting/contracts';
import {
  type Actor,
  type Approval,
  type ChangeRequest,
  type ChangeRequestDecision,
  type NewComment,
  onlyAuthorCan,
  type ProposedChange,
  requireNotBeingApplied,
  withComment,
  withoutEvents,
  withStep,
} from '../requests/change-request.ts';
import { eventOf, stateBeforeReview } from '../requests/events.ts';
import { meetsRoleRequirement } from '../states/state-machine.ts';
import type { RolesOf } from './request-roles.ts';

/** What decides whether the approvals of a request suffice. */
export interface ApprovalFacts {
  /** the number of approvals that the request needs now */
  readonly minApprovals: number;
  /** whether the user of an approval may approve the request now */
  readonly mayApprove: (userId: number) => boolean;
  /** the current basis of its effect, by which approvals for another one do not count; undefined if it was not asked for, or is in conflict */
  readonly basis?: string | undefined;
}

function isOutdated(approval: Approval, { basis }: Pick<ApprovalFacts, 'basis'>): boolean {
  return basis !== undefined && approval.basis !== null && approval.basis !== basis;
}

function approvalsThatCount({ approvals }: ChangeRequest, facts: Omit<ApprovalFacts, 'minApprovals'>) {
  return approvals.filter((approval) => facts.mayApprove(approval.createdBy.id) && !isOutdated(approval, facts));
}

function isReviewed({ state }: Pick<ChangeRequest, 'state'>): boolean {
  return state === 'Approved' || state === 'Scheduled';
}

/**
 * The reason to take back approvals of a request, as people read it: users who may not approve any more, or too few approvals for what it
 * needs now. Undefined if there is none. A closed request keeps the approvals with which it was decided.
 */
export function reasonToTakeBack(request: ChangeRequest, facts: ApprovalFacts): string | undefined {
  if (isClosedState(request.state)) return undefined;
  const { approvals } = request;
  const counting = approvalsThatCount(request, facts);
  const lost = approvals.filter((approval) => !counting.includes(approval));
  const lacks = isReviewed(request) && counting.length < facts.minApprovals;
  if (lost.length === 0 && !lacks) return undefined;
  const left = `The change request has ${counting.length} of the ${facts.minApprovals} approvals that it needs now`;
  // Without names, which are erased when users are deleted.
  const ids = (ofUsers: readonly Approval[]): string => ofUsers.map(({ createdBy }) => createdBy.id).join(', ');
  const [forbidden = [], outdated = []] = [false, true].map((may) =>
    lost.filter(({ createdBy }) => facts.mayApprove(createdBy.id) === may),
  );
  return [
    ...(forbidden.length === 0
      ? []
      : [`The approval of a user who may no longer approve (user id: ${ids(forbidden)}) was removed.`]),
    ...(outdated.length === 0
      ? []
      : [
          `The default strategy or a segment that the changes begin to use was edited after the approval (user id: ${ids(outdated)}), which was removed.`,
        ]),
    left,
  ].join(' ');
}

/**
 * Takes back the approvals that no longer count. A request that was approved or scheduled and lacks approvals now returns to review. The reason is
 * added as a comment, and to the event, which also one in review has that has lost approvals: whoever may approve is asked again.
 */
export function takeBackApprovals(
  before: ChangeRequest,
  facts: ApprovalFacts,
  comment: NewComment,
  now: Date,
): ChangeRequestDecision {
  const actor = { by: { id: systemCaller.id, name: systemCaller.name }, now };
  const approvals = approvalsThatCount(before, facts);
  const commented = withComment({ ...before, approvals }, comment, actor);
  const lost = before.approvals.filter((approval) => !approvals.includes(approval));
  const lacks = approvals.length < facts.minApprovals;
  if (!lacks || (!isReviewed(before) && lost.length === 0)) return withoutEvents(commented);
  const state = 'In review';
  const stateTimestamps = { ...before.stateTimestamps, [state]: now.toISOString() };
  const reviewed: ChangeRequest = isReviewed(before)
    ? { ...commented, state, stateTimestamps, schedule: null }
    : commented;
  const request = withStep(reviewed, actor);
  const mayAgain = lost.filter(({ createdBy }) => facts.mayApprove(createdBy.id));
  const details = { data: { reason: comment.text }, preData: stateBeforeReview(before, mayAgain) };
  return { request, events: [eventOf('change-request-sent-to-review', request, actor, details)] };
}

/** A protected environment that is connected to a project, and the number of approvals that it asks for. */
export interface Protection {
  readonly environment: string;
  readonly requiredApprovals: number;
}

/** What a request needs now. */
export interface ReviewRequirement {
  /** the number of approvals: the highest of those that were asked for when it was created, and that its environments ask for now */
  readonly minApprovals: number;
  /** the protected environments that its changes affect: whoever approves or applies it needs the permission in all of them */
  readonly affectedEnvironments: readonly string[];
}

/** What a request needs where its project has these protected environments. */
export function reviewRequirement(
  {
    environment,
    changes,
    minApprovals,
  }: Pick<ChangeRequest, 'environment' | 'minApprovals'> & {
    readonly changes: readonly Pick<ProposedChange, 'action'>[];
  },
  protections: readonly Protection[],
): ReviewRequirement {
  const names = protections.map((protection) => protection.environment);
  const affected = affectedEnvironments(changes, environment, names);
  const asking = protections.filter(
    (protection) => protection.environment === environment || affected.includes(protection.environment),
  );
  return {
    minApprovals: Math.max(minApprovals, ...asking.map(({ requiredApprovals }) => requiredApprovals)),
    affectedEnvironments: affected,
  };
}

/** What other services know about requests of a project. */
export interface ReviewFacts {
  /** the environments that are connected to the project */
  readonly connected: ReadonlySet<string>;
  /** the users of approvals with their current permissions; null for those who were deleted or disabled */
  readonly approvers: ReadonlyMap<number, Caller | null>;
  /** by id of a request: the current basis of its effect, where it was asked for; null while it is in conflict */
  readonly bases?: ReadonlyMap<number, string | null>;
}

/** What a request needs now, and which approvals count for it. */
export type Judgement = ReviewRequirement & ApprovalFacts;

/** An admin token belongs to no user whose permissions could be read: whether it may approve is a setting. */
const adminToken: Caller = { id: adminTokenUserId, name: 'admin', grants: [{ permission: 'ADMIN' }] };

/**
 * Judges a request by the protected environments of its project: for its approval, its application and its replies alike. An approver who is not
 * among the facts has approved since they were read, and counts.
 */
export function judgeRequest(
  request: ChangeRequest,
  protections: readonly Protection[],
  { connected, approvers, bases }: ReviewFacts,
  rolesOf: RolesOf,
): Judgement {
  const { project, environment, createdBy } = request;
  const requirement = reviewRequirement(
    request,
    protections.filter((protection) => connected.has(protection.environment)),
  );
  const { affectedEnvironments } = requirement;
  const mayApprove = (userId: number): boolean => {
    const caller = userId === adminTokenUserId ? adminToken : approvers.get(userId);
    if (caller === undefined) return true;
    if (caller === null) return false;
    return meetsRoleRequirement(rolesOf(caller, { project, environment, createdBy, affectedEnvironments }), 'approver');
  };
  return { ...requirement, mayApprove, basis: bases?.get(request.id) ?? undefined };
}

/** The request without the approvals that do not count. */
export function withCountingApprovals(
  request: ChangeRequest,
  facts: Omit<ApprovalFacts, 'minApprovals'>,
): ChangeRequest {
  const approvals = approvalsThatCount(request, facts);
  return approvals.length === request.approvals.length ? request : { ...request, approvals };
}

/**
 * Refuses to request approvals unless the user is the author and the request can still be approved. A requested approval is advisory:
 * any permitted reviewer may approve.
 */
export function requireMayRequestApproval(request: ChangeRequest, userId: number): void {
  if (request.createdBy.id !== userId) throw onlyAuthorCan('ask for approvals');
  requireNotBeingApplied(request);
  if (request.state !== 'Draft' && request.state !== 'In review') {
    throw refusal('ConflictError', `Approvals cannot be requested for a change request in state "${request.state}"`);
  }
}

/** As many a request keeps: the newest ones. */
const maxReviewRequests = 100;

/** The request with other requested reviewers; the same one, without an event, if they are the same. */
export function approversRequested(
  request: ChangeRequest,
  ids: readonly number[],
  actor: Actor,
): ChangeRequestDecision {
  const before = [...request.requestedApprovers];
  if (isEqual(before, ids)) return withoutEvents(request);
  const requested = ids.filter((id) => !before.includes(id));
  const withdrawn = before.filter((id) => !ids.includes(id));
  // Another order asks nobody.
  const added = requested.length + withdrawn.length > 0 ? [{ requested, withdrawn, at: actor.now.toISOString() }] : [];
  const reviewRequests = [...request.reviewRequests, ...added].slice(-maxReviewRequests);
  const details = { data: { reviewers: [...ids] }, preData: { reviewers: before } };
  return {
    request: { ...request, requestedApprovers: ids, reviewRequests },
    events: [eventOf('change-request-requested-approvers-updated', request, actor, details)],
  };
}

/** The request with a comment. The event of a comment on a draft has no text: every user can read events, only the author sees the draft. */
export function commentedOn(request: ChangeRequest, comment: NewComment, actor: Actor): ChangeRequestDecision {
  const isPrivate = request.state === 'Draft';
  const data = { commentId: comment.id, ...(isPrivate ? {} : { comment: comment.text }) };
  return {
    request: withComment(request, comment, actor),
    events: [eventOf('change-request-comment-added', request, actor, { data })],
  };
}

/** Refuses a reviewer who is no active user. */
export function requireActiveReviewers(reviewerIds: readonly number[], activeIds: ReadonlySet<number>): void {
  const missing = reviewerIds.findIndex((id) => !activeIds.has(id));
  if (missing < 0) return;
  const path = `/body/reviewers/${missing}`;
  throw invalid(
    `The \`${path}\` property must be the id of an active user. You provided ${reviewerIds[missing]}.`,
    path,
  );
}

/** Ids of the users whose review is requested, and then of those who have decided. */
export function reviewersToShow(
  { approvals, rejections }: Pick<ChangeRequest, 'approvals' | 'rejections'>,
  requested: readonly number[],
): readonly number[] {
  return [...new Set([...requested, ...[...approvals, ...rejections].map(({ createdBy }) => createdBy.id)])];
}

/** The requested reviewers with the state of their reviews, in the order requested. A deleted user is listed by id alone. */
export function requestedReviewersWithStatus(
  reviewerIds: readonly number[],
  reviewers: ReadonlyMap<number, Reviewer>,
  { approvals, rejections }: ChangeRequest,
): RequestedReviewer[] {
  const approved = new Set(approvals.map(({ createdBy }) => createdBy.id));
  const rejected = new Set(rejections.map(({ createdBy }) => createdBy.id));
  return reviewerIds.map((id) => ({
    ...(reviewers.get(id) ?? { id }),
    status: rejected.has(id) ? 'rejected' : approved.has(id) ? 'approved' : 'pending',
  }));
}
