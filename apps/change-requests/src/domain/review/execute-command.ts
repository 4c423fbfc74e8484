import {
  type ChangeRequestState,
  type EventType,
  noAccess,
  notFound,
  type Permission,
  type Refusal,
  refusal,
} from '@bunting/contracts';
import type { Actor, Applying, ChangeRequest, Comment, PendingReply, Schedule } from '../change-request.ts';
import { requireNotBeingApplied } from '../content/edit-content.ts';
import { eventOf } from '../events.ts';
import {
  type Command,
  checkTransition,
  type RequestRoles,
  type Transition,
  type RoleRequirement,
} from './state-machine.ts';

/** The actor with their roles for the request. */
export interface ActorWithRoles extends Actor {
  readonly roles: RequestRoles;
}

/** The result of a command: the new state of the request, or null if it is deleted, and the events to emit. */
export interface CommandResult {
  readonly request: ChangeRequest | null;
  readonly events: readonly ReturnType<typeof eventOf>[];
}

export interface CommandOptions {
  /** the actor's comment, with its new id */
  readonly comment?: { readonly id: number; readonly text: string } | undefined;
  /** the revision that the actor has seen */
  readonly revision?: number | undefined;
  /** the time at which to apply it, and the state that it would replace as of now */
  readonly schedule?: Pick<Schedule, 'scheduledAt' | 'snapshots'> | undefined;
  /** the actor's name for display, if it is another */
  readonly displayName?: string | undefined;
  /** the reply for retries, stored once the request is applied */
  readonly pendingReply?: PendingReply | undefined;
  /** the reason of a failure or suspension */
  readonly reason?: string | undefined;
}

/** @throws Refusal `NotFoundError` if there is no such request, or if it is a draft of another user. */
export const requireVisible = (request: ChangeRequest | undefined, id: number, userId: number): ChangeRequest => {
  if (request === undefined || (request.state === 'Draft' && request.createdBy.id !== userId)) {
    throw notFound(`Could not find change request with id ${id}`);
  }
  return request;
};

/** Refuses a command if the content was edited since the actor read it. */
const requireRevision = ({ revision }: ChangeRequest, seen: number | undefined): void => {
  if (seen !== undefined && seen !== revision) {
    throw refusal('ConflictError', 'Change request was changed by someone else');
  }
};

const permissionsFor: Readonly<Record<RoleRequirement, readonly Permission[]>> = {
  author: [],
  'author or admin': [],
  reviewer: ['APPROVE_CHANGE_REQUEST'],
  'reviewer or applier': ['APPROVE_CHANGE_REQUEST', 'APPLY_CHANGE_REQUEST'],
  'author, reviewer or applier': ['APPROVE_CHANGE_REQUEST', 'APPLY_CHANGE_REQUEST'],
  applier: ['APPLY_CHANGE_REQUEST'],
  system: [],
};

const notPermitted = (
  required: RoleRequirement,
  { author, isAdministrator, reviewer }: RequestRoles,
  environment: string,
): Refusal => {
  if (required === 'reviewer' || required === 'reviewer or applier') {
    // Every other administrator is a reviewer.
    if (isAdministrator && !reviewer) {
      return refusal(
        'NoAccessError',
        'An admin token can not review a change request, because no person stands behind it. Review as a user, or set CHANGE_REQUESTS_ADMIN_TOKENS_REVIEW=true',
      );
    }
    if (author && isAdministrator) {
      return refusal(
        'NoAccessError',
        'Authors can not review their own change request, unless they are administrators and CHANGE_REQUESTS_ADMINS_REVIEW_OWN=true',
      );
    }
    if (author) return refusal('NoAccessError', 'Authors can not review their own change request');
  }
  const permissions = permissionsFor[required];
  if (permissions.length > 0) return noAccess(permissions, environment);
  return refusal('NoAccessError', 'Only the author of a change request can do this');
};

const stateFor: Readonly<Partial<Record<Command, ChangeRequestState>>> = {
  'send to review': 'In review',
  approve: 'Approved',
  reject: 'Rejected',
  cancel: 'Cancelled',
  apply: 'Applied',
  run: 'Applied',
  schedule: 'Scheduled',
};

const factsOf = (request: ChangeRequest, command: Command, userId: number) => {
  const { changes, approvals, minApprovals } = request;
  const isNew = command === 'approve' && !approvals.some(({ createdBy }) => createdBy.id === userId);
  return { changes: changes.length, approvals: approvals.length + (isNew ? 1 : 0), minApprovals };
};

/**
 * The transition of a command from the current state.
 * @throws Refusal with the reason if the transition does not exist, or if the actor may not take it now.
 */
export const requireTransition = (
  request: ChangeRequest,
  command: Command,
  { by, roles }: ActorWithRoles,
): Transition => {
  const verdict = checkTransition(request.state, command, roles, factsOf(request, command, by.id));
  switch (verdict.is) {
    case 'allowed':
      return verdict.transition;
    case 'not permitted':
      throw notPermitted(verdict.requiredRole, roles, request.environment);
    case 'not ready':
      throw refusal(
        'ConflictError',
        verdict.guard === 'has changes'
          ? 'Change request has no changes'
          : 'Change request no longer has the required approvals',
      );
    case 'no such transition': {
      const to = stateFor[command] ?? command;
      const message =
        command === 'discard'
          ? `A change request in state "${request.state}" cannot be discarded: only a draft can`
          : `Change request cannot go from "${request.state}" to "${to}"`;
      throw refusal('ConflictError', message);
    }
  }
};

const withComment = (request: ChangeRequest, { comment }: CommandOptions, { by, now }: Actor): ChangeRequest => {
  if (comment === undefined) return request;
  const added: Comment = { ...comment, createdBy: by, createdAt: now.toISOString() };
  return { ...request, comments: [...request.comments, added] };
};

const toScheduleResponse = (schedule: Schedule | null) =>
  schedule === null ? null : { status: schedule.status, scheduledDate: schedule.scheduledAt };

const dataOf = (type: EventType, before: ChangeRequest, after: ChangeRequest, { comment, reason }: CommandOptions) => {
  const commentData = comment === undefined ? {} : { comment: comment.text };
  const state = { state: before.state };
  const scheduledDate = (after.schedule ?? before.schedule)?.scheduledAt;
  switch (type) {
    case 'change-request-approval-added':
      return { data: { approvals: after.approvals.length, minApprovals: after.minApprovals } };
    case 'change-request-approved':
      return { data: { approvals: after.approvals.length, minApprovals: after.minApprovals }, preData: state };
    case 'change-request-applied':
      return { data: { changes: after.changes.length }, preData: state };
    case 'change-request-scheduled':
      return { data: { scheduledDate }, preData: toScheduleResponse(before.schedule) };
    case 'change-request-scheduled-application-success':
      return { data: { scheduledDate } };
    case 'change-request-scheduled-application-failure':
      return { data: { scheduledDate, reason } };
    case 'change-request-schedule-suspended':
      return { data: { reason }, preData: { status: before.schedule?.status } };
    case 'change-request-discarded':
      return { data: { changes: before.changes.length } };
    default:
      return { data: commentData, preData: state };
  }
};

const scheduleAfter = (
  before: ChangeRequest,
  command: Command,
  { by }: Actor,
  more: CommandOptions,
): Schedule | null => {
  if (command === 'schedule') {
    const { scheduledAt = '', snapshots = {} } = more.schedule ?? {};
    return { status: 'pending', scheduledAt, by, reason: null, snapshots };
  }
  if (before.schedule === null) return null;
  if (command === 'fail') return { ...before.schedule, status: 'failed', reason: more.reason ?? '' };
  if (command === 'suspend') return { ...before.schedule, status: 'suspended', reason: more.reason ?? '' };
  return null;
};

/** Applies one transition. Every change of state happens here. */
const transitionTo = (
  before: ChangeRequest,
  { to, command, emits }: Transition,
  actor: Actor,
  more: CommandOptions,
): CommandResult => {
  const { by, now } = actor;
  const createdAt = now.toISOString();
  if (to === null) {
    return {
      request: null,
      events: emits.map((type) => eventOf(type, before, actor, dataOf(type, before, before, more))),
    };
  }
  const entered = to === before.state && command !== 'schedule' ? {} : { [to]: createdAt };
  const review = { createdBy: by, createdAt };
  const after: ChangeRequest = {
    ...withComment(before, more, actor),
    state: to,
    stateTimestamps: { ...before.stateTimestamps, ...entered },
    approvals: command === 'approve' ? [...before.approvals, review] : before.approvals,
    rejections: command === 'reject' ? [...before.rejections, review] : before.rejections,
    schedule: scheduleAfter(before, command, actor, more),
    applying: null,
  };
  return {
    request: after,
    events: emits.map((type) => eventOf(type, before, actor, dataOf(type, before, after, more))),
  };
};

/** Carries out a command if the transition table allows it. A repeated approval by the same user emits no event. */
export const executeCommand = (
  request: ChangeRequest,
  command: Command,
  actor: ActorWithRoles,
  more: CommandOptions = {},
): CommandResult => {
  requireNotBeingApplied(request);
  const transition = requireTransition(request, command, actor);
  requireRevision(request, more.revision);
  const isRepeated = command === 'approve' && request.approvals.some(({ createdBy }) => createdBy.id === actor.by.id);
  if (isRepeated) return { request: withComment(request, more, actor), events: [] };
  return transitionTo(request, transition, actor, more);
};

/** Starts an attempt to apply a request. All other commands are refused until `endApplying` or `abandonApplying`. */
export const beginApplying = (
  request: ChangeRequest,
  command: 'apply' | 'run',
  actor: ActorWithRoles,
  more: CommandOptions = {},
): ChangeRequest => {
  requireNotBeingApplied(request);
  requireTransition(request, command, actor);
  requireRevision(request, more.revision);
  const { displayName, comment, pendingReply } = more;
  const since = actor.now.toISOString();
  const applying: Applying = {
    by: actor.by,
    displayName,
    since,
    scheduled: command === 'run',
    comment,
    pendingReply,
  };
  return { ...request, applying, attempts: request.attempts + 1 };
};

/** True if this very write, identified by its idempotency key, started the current attempt to apply the request. */
export const isStartedByThisWrite = ({ applying }: ChangeRequest, pendingReply: PendingReply | undefined): boolean => {
  const before = applying?.pendingReply;
  return (
    before !== undefined &&
    before.scope === pendingReply?.scope &&
    before.hashedKey === pendingReply.hashedKey &&
    before.fingerprint === pendingReply.fingerprint
  );
};

/** The roles of the service itself, which runs what users have scheduled. */
export const systemRoles: RequestRoles = {
  author: false,
  isAdministrator: false,
  mayReviewAsAdmin: false,
  reviewer: false,
  applier: false,
  system: true,
};

/** Ends the attempt of `beginApplying` with success. */
export const endApplying = (request: ChangeRequest, now: Date): CommandResult => {
  const { applying } = request;
  if (applying === null)
    throw new Error(`Change request ${request.id} is not being applied: call beginApplying first.`);
  const command = applying.scheduled ? 'run' : 'apply';
  const roles = { ...systemRoles, applier: true };
  const actor = { by: applying.by, now, roles };
  return transitionTo(request, requireTransition(request, command, actor), actor, { comment: applying.comment });
};

/** Ends the attempt of `beginApplying` without effect, and without its comment. A scheduled run stores the reason `why`. */
export const abandonApplying = (
  request: ChangeRequest,
  now: Date,
  why?: { readonly command: 'fail' | 'suspend'; readonly reason: string },
): CommandResult => {
  const { applying } = request;
  if (applying === null)
    throw new Error(`Change request ${request.id} is not being applied: call beginApplying first.`);
  const atRest = { ...request, applying: null };
  if (!applying.scheduled || why === undefined) return { request: atRest, events: [] };
  const actor = { by: applying.by, now, roles: systemRoles };
  return transitionTo(atRest, requireTransition(atRest, why.command, actor), actor, { reason: why.reason });
};

/** Suspends a pending or failed schedule with a reason for users. Any other request is returned unchanged. */
export const suspend = (request: ChangeRequest, reason: string, actor: Actor): CommandResult => {
  if (request.schedule === null || request.schedule.status === 'suspended' || request.applying !== null) {
    return { request, events: [] };
  }
  return executeCommand(request, 'suspend', { ...actor, roles: systemRoles }, { reason });
};
