import {
  type Caller,
  type ChangeAction,
  type ChangeRequestState,
  invalid,
  isClosedState,
  notFound,
  type OutboxEvent,
  type PassedCheck,
  type Refusal,
  refusal,
} from '@bunting/contracts';
import { contentTag } from '@bunting/contracts/hashing';
import type { RequestRoles } from '../reviews/request-roles.ts';

/** A user as stored with the request. The names of a deleted user are null. */
export interface UserRef {
  readonly id: number;
  readonly name: string | null;
  /** the name by which the API calls the user, if it is another; null also for rows from before it was stored */
  readonly username?: string | null;
}
/** A user who acts. The name is that of events, an e-mail address if the user has one. */
interface NamedUser extends UserRef {
  readonly name: string;
}

/** The user who performs an operation, and its time. */
export interface Actor {
  readonly by: NamedUser;
  readonly now: Date;
  /** what the person acts through, if it is neither the console nor the API */
  readonly via?: Caller['via'];
}

/** One proposed action on one feature or one segment. Immutable: an edit creates another object with the same id. */
export interface ProposedChange {
  readonly id: number;
  readonly position: number;
  readonly action: ChangeAction;
  readonly feature: string | null;
  readonly segment: { readonly id: number; readonly name: string } | null;
  readonly payload: unknown;
  /** the state that the change replaces, as of its proposal */
  readonly snapshot: unknown;
  /** when the feature was created that it was proposed for; null for segments, and for changes that an older version stored */
  readonly featureCreatedAt: string | null;
  readonly createdBy: UserRef;
  readonly createdAt: string;
}

/** An approval or a rejection. */
export interface Review {
  readonly createdBy: NamedUser;
  readonly createdAt: string;
}

export interface Approval extends Review {
  /** the basis of `preview-changes` for which it was given, or `basisInConflict`; null if an older version stored it */
  readonly basis: string | null;
}

/** The basis of approvals of changes that had no effect yet: they are for no effect that the changes have later. */
export const basisInConflict = 'in conflict';

/** The states of a schedule: to be applied, failed at its time, or stopped before it. */
export const scheduleStatuses = ['pending', 'failed', 'suspended'] as const;

/** The time at which an approved request is applied, and the user on whose behalf. */
export interface Schedule {
  readonly status: (typeof scheduleStatuses)[number];
  readonly scheduledAt: string;
  readonly by: { readonly id: number; readonly name: string };
  readonly reason: string | null;
  /** by change id: the state that the change would have replaced when the time was set */
  readonly snapshots: Readonly<Record<string, unknown>>;
}

/** The encrypted reply for retries with the same `Idempotency-Key`, without the key. It is stored when the request has been applied. */
export interface PendingReply {
  readonly scope: string;
  readonly hashedKey: string;
  readonly operation: string;
  readonly fingerprint: string;
  readonly passedChecks: readonly PassedCheck[];
  readonly encryptedReply: string;
}

/** A permission to edit segments of all projects, which no role in one project has. */
export type SegmentPermission = 'UPDATE_SEGMENT' | 'DELETE_SEGMENT';

/** An attempt to apply the request whose outcome is not stored yet. */
export interface ApplyAttempt {
  readonly by: NamedUser;
  /** the name of the user for display, if it is another */
  readonly displayName?: string | undefined;
  readonly since: string;
  /** whether the schedule started it, rather than a user */
  readonly scheduled: boolean;
  /** the comment of the user, which is added to the request when it has been applied */
  readonly comment?: Pick<Comment, 'id' | 'text'> | undefined;
  /** the protected environments for which the request was approved when the attempt began; absent from older versions */
  readonly authorisedEnvironments?: readonly string[] | undefined;
  /** the permissions for segments of all projects that the user had then; absent from older versions */
  readonly segmentPermissions?: readonly SegmentPermission[] | undefined;
  /** the number of approvals that it needed then */
  readonly minApprovals?: number | undefined;
  /** the reply to retries of the write that started the attempt */
  readonly pendingReply?: PendingReply | undefined;
}

/** The change that a comment is about, as it was then: unlike the comment, it may have been discarded since. */
export type CommentedChange = Pick<ProposedChange, 'id' | 'action' | 'feature' | 'segment'>;

export interface Comment {
  readonly id: number;
  readonly text: string;
  readonly createdBy: UserRef;
  readonly createdAt: string;
  /** null for a comment on the whole request */
  readonly change: CommentedChange | null;
}

/** That the author asked users for their reviews, and others no longer. */
export interface ReviewRequest {
  /** ids of users */
  readonly requested: readonly number[];
  /** ids of users */
  readonly withdrawn: readonly number[];
  readonly at: string;
}

/** That a request came into a state, or got another schedule. */
export interface Step {
  readonly state: ChangeRequestState;
  /** the id of who took it; without the name, which is erased when the user is deleted */
  readonly by: number;
  readonly at: string;
  /** of the state `Scheduled`: when it is to be applied, or why it is not */
  readonly schedule?: Pick<Schedule, 'status' | 'scheduledAt' | 'reason'>;
  /** whether it was applied because its time had come */
  readonly isScheduled?: true;
}

/** Changes of one project and environment that are reviewed and applied together. */
export interface ChangeRequest {
  readonly id: number;
  /** unique even after a restored backup, unlike the id; null for requests created before uids existed */
  readonly uid: string | null;
  readonly project: string;
  readonly environment: string;
  readonly title: string | null;
  readonly state: ChangeRequestState;
  readonly minApprovals: number;
  readonly createdBy: UserRef;
  readonly createdAt: string;
  /** incremented by every edit of the content, so that a reviewer can detect an edit since they read it */
  readonly revision: number;
  /** when each state was last entered */
  readonly stateTimestamps: Readonly<Record<string, string>>;
  /** by position */
  readonly changes: readonly ProposedChange[];
  readonly approvals: readonly Approval[];
  readonly rejections: readonly Review[];
  readonly comments: readonly Comment[];
  /** set if and only if the request is scheduled */
  readonly schedule: Schedule | null;
  readonly applying: ApplyAttempt | null;
  /** the number of attempts to apply the request */
  readonly attempts: number;
  /** ids of the users whose approval the author requested, in the order given */
  readonly requestedApprovers: readonly number[];
  /** how these came about, oldest first; without those from before this was stored */
  readonly reviewRequests: readonly ReviewRequest[];
  /** how it came into its state, oldest first; without those from before this was stored */
  readonly steps: readonly Step[];
}

/** The project and environment of a request. */
export type EnvironmentRef = Pick<ChangeRequest, 'project' | 'environment'>;

/** A request as the path of an operation names it. */
export interface RequestPath {
  readonly projectId: string;
  readonly id: number;
}

/** The result of a domain rule: the new state of the request, and the events to emit. */
export interface ChangeRequestDecision {
  readonly request: ChangeRequest;
  readonly events: readonly OutboxEvent[];
}

/** A decision that emits nothing. */
export function withoutEvents(request: ChangeRequest): ChangeRequestDecision {
  return { request, events: [] };
}

// One function for each refusal that several rules or operations share. The messages are those of Unleash where it has them.

/** 404: there is no such request, or it is a draft of another user. */
function changeRequestNotFound(id: number): Refusal {
  return notFound(`Could not find change request with id ${id}`);
}

/** 403: the caller is not the author. @param action what only the author can do, such as `rename it` */
export function onlyAuthorCan(action: string): Refusal {
  return refusal('NoAccessError', `Only the author of a change request can ${action}`);
}

/** 409: the content was edited since the caller read it, or while it was being edited. */
export function changedBySomeoneElse(): Refusal {
  return refusal('ConflictError', 'Change request was changed by someone else');
}

/** 409: what the changes would do is not what the caller has seen. */
export function effectChanged(): Refusal {
  return refusal(
    'ConflictError',
    'The change request would do something else now, since a default strategy or a segment was edited. Look at it again',
  );
}

/** 409: its state does not permit it. @param done what cannot be done to the request, such as `renamed` */
export function notAllowedInState(done: string, { state }: { readonly state: ChangeRequestState }): Refusal {
  return refusal('ConflictError', `A change request in state "${state}" cannot be ${done}`);
}

/** 409: no transition leads from the state of the request to the other. */
export function transitionNotAllowed(to: string, { state }: { readonly state: ChangeRequestState }): Refusal {
  return refusal('ConflictError', `Change request cannot go from "${state}" to "${to}"`);
}

/** 409: approvals were removed since the request was approved. */
export function approvalsLost(): Refusal {
  return refusal('ConflictError', 'Change request no longer has the required approvals');
}

/** Whether a user may see a request: a draft is visible to its author only. */
export function maySeeRequest(
  { state, createdBy }: Pick<ChangeRequest, 'state' | 'createdBy'>,
  userId: number,
): boolean {
  return state !== 'Draft' || createdBy.id === userId;
}

/** @throws Refusal `NotFoundError` if there is no such request */
export function requireExisting(request: ChangeRequest | undefined, id: number): ChangeRequest {
  if (request === undefined) throw changeRequestNotFound(id);
  return request;
}

/** @throws Refusal `NotFoundError` if there is no such request, or if it is a draft of another user. */
export function requireVisible(request: ChangeRequest | undefined, id: number, userId: number): ChangeRequest {
  if (request === undefined || !maySeeRequest(request, userId)) throw changeRequestNotFound(id);
  return request;
}

/** @throws Refusal `ConflictError` while an attempt to apply the request is in progress. */
export function requireNotBeingApplied({ applying }: Pick<ChangeRequest, 'applying'>): void {
  if (applying !== null) throw refusal('ConflictError', 'Change request is being applied');
}

/** Refuses to evaluate the changes of a closed request, as the playground would. */
export function requireOpenForPlayground({ id, state }: Pick<ChangeRequest, 'id' | 'state'>): void {
  if (isClosedState(state))
    throw invalid(
      `Change request ${id} is closed (${state}): its changes are not proposed any more.`,
      '/body/changeRequest',
    );
}

/**
 * Names that the API shows are no content: they are stored for some users only, and a request that is not stored yet has more of them. Nor
 * is that a comment is about no change: replicas of the version before do not know of it.
 */
function isNoContent(key: string, value: unknown): boolean {
  return key === 'username' || (key === 'change' && value === null);
}

/** Identifies one version of a request, with its reviews and comments. The uid is excluded: older requests have none. So is
 * how its state and its requested reviewers came about, which replicas of the version before do not know. */
export function entityTagOfRequest({ uid: _, reviewRequests: __, steps: ___, ...content }: ChangeRequest): string {
  const json = JSON.stringify(content, (key, value: unknown) => (isNoContent(key, value) ? undefined : value));
  return contentTag(JSON.parse(json) as object);
}

/** The entity tag in the syntax of the `ETag` header. */
export function etagHeaderOf(request: ChangeRequest): string {
  return `"${entityTagOfRequest(request)}"`;
}

/** The caller as the actor that a change request stores. @param now the time of the database, if the actor is stored */
export function actorOf({ id, name, username, via }: Caller, now: Date): Actor {
  return {
    by: { id, name, ...(username === undefined ? {} : { username }) },
    now,
    ...(via === undefined ? {} : { via }),
  };
}

/** Changes the title of a request. Refuses users other than the author and administrators, and closed requests. */
export function setTitle(
  request: ChangeRequest,
  title: string,
  { author, isAdministrator }: Pick<RequestRoles, 'author' | 'isAdministrator'>,
): ChangeRequest {
  if (!author && !isAdministrator) throw onlyAuthorCan('rename it');
  requireNotBeingApplied(request);
  if (isClosedState(request.state)) throw notAllowedInState('renamed', request);
  return { ...request, title: title.trim() };
}

/** As many a request keeps: the newest ones. */
const maxSteps = 100;

/** The request with the step that has led to its state and schedule. */
export function withStep(request: ChangeRequest, { by, now }: Actor, isScheduled = false): ChangeRequest {
  const { state, schedule } = request;
  const step: Step = {
    state,
    by: by.id,
    at: now.toISOString(),
    ...(schedule === null
      ? {}
      : { schedule: { status: schedule.status, scheduledAt: schedule.scheduledAt, reason: schedule.reason } }),
    ...(isScheduled ? { isScheduled } : {}),
  };
  return { ...request, steps: [...request.steps, step].slice(-maxSteps) };
}

/** A comment with its new id; one without a change is about the whole request. */
export type NewComment = Pick<Comment, 'id' | 'text'> & { readonly change?: CommentedChange | undefined };

/** The change of a request that a new comment is about. */
export function commentedChangeOf({ changes }: ChangeRequest, changeId: number): CommentedChange {
  const change = changes.find(({ id }) => id === changeId);
  if (change === undefined)
    throw invalid('The change request has no such change; it may have been discarded.', '/body/changeId');
  const { id, action, feature, segment } = change;
  return { id, action, feature, segment };
}

/** The request with a further comment of the actor; the same request if there is none. */
export function withComment(
  request: ChangeRequest,
  comment: NewComment | undefined,
  { by, now }: Actor,
): ChangeRequest {
  if (comment === undefined) return request;
  const added: Comment = {
    ...comment,
    createdBy: by,
    createdAt: now.toISOString(),
    change: comment.change ?? null,
  };
  return { ...request, comments: [...request.comments, added] };
}
