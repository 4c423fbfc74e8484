import {
  type ChangeRequestState,
  changeRequestStates,
  invalid,
  noAccess,
  type Permission,
  type Refusal,
  refusal,
  systemCaller,
} from '@bunting/contracts';
import { isPending } from '../proposals/content.ts';
import {
  type Actor,
  approvalsLost,
  changedBySomeoneElse,
  type ChangeRequest,
  type ChangeRequestDecision,
  type NewComment,
  notAllowedInState,
  onlyAuthorCan,
  requireNotBeingApplied,
  type Schedule,
  transitionNotAllowed,
  withComment,
  withoutEvents,
  withStep,
} from '../requests/change-request.ts';
import { type EventDetails, eventOf } from '../requests/events.ts';
import { isNonReviewingToken, noRoles, type RequestRoles, systemRoles } from '../reviews/request-roles.ts';
import {
  checkTransition,
  commandFor,
  type CommandName,
  type RoleRequirement,
  type Transition,
  type TransitionEvent,
} from './state-machine.ts';

/** The actor with their roles for the request. */
export interface ActorWithRoles extends Actor {
  readonly roles: RequestRoles;
}

const permissionsFor: Readonly<Record<RoleRequirement, readonly Permission[]>> = {
  author: [],
  'author or admin': [],
  reviewer: ['APPROVE_CHANGE_REQUEST'],
  approver: ['APPROVE_CHANGE_REQUEST'],
  'reviewer or applier': ['APPROVE_CHANGE_REQUEST', 'APPLY_CHANGE_REQUEST'],
  'author, reviewer or applier': ['APPROVE_CHANGE_REQUEST', 'APPLY_CHANGE_REQUEST'],
  applier: ['APPLY_CHANGE_REQUEST'],
  system: [],
};

const reviewRequirements: ReadonlySet<RoleRequirement> = new Set([
  'reviewer',
  'approver',
  'reviewer or applier',
  'author, reviewer or applier',
]);

/** The reason why an actor with these roles may not review; undefined if only a permission is missing. */
function reviewDenial(roles: RequestRoles): string | undefined {
  const { author, isAdministrator } = roles;
  if (isNonReviewingToken(roles))
    return 'An admin token can not review a change request, because no person stands behind it. Review as a user, or set CHANGE_REQUESTS_ADMIN_TOKENS_REVIEW=true';
  if (author && isAdministrator)
    return 'Authors can not review their own change request, unless they are administrators and CHANGE_REQUESTS_ADMINS_REVIEW_OWN=true';
  return author ? 'Authors can not review their own change request' : undefined;
}

/** The environment in which the permission is missing. */
function placeOfDenial(required: RoleRequirement, roles: RequestRoles, environment: string): string {
  if (required === 'approver' && roles.reviewer) return roles.missing.approve ?? environment;
  if (required === 'applier' && roles.applier) return roles.missing.apply ?? environment;
  return environment;
}

function notPermitted(required: RoleRequirement, roles: RequestRoles, environment: string): Refusal {
  const denial = reviewRequirements.has(required) ? reviewDenial(roles) : undefined;
  if (denial !== undefined) return refusal('NoAccessError', denial);
  const permissions = permissionsFor[required];
  return permissions.length > 0
    ? noAccess(permissions, placeOfDenial(required, roles, environment))
    : onlyAuthorCan('do this');
}

function factsOf({ changes, approvals }: ChangeRequest, command: CommandName, userId: number, minApprovals: number) {
  const isNew = command === 'approve' && !approvals.some(({ createdBy }) => createdBy.id === userId);
  return { changes: changes.length, approvals: approvals.length + (isNew ? 1 : 0), minApprovals };
}

/** The state to which a command leads, as errors name it. */
const targetOf: Readonly<Record<Exclude<CommandName, 'discard'>, ChangeRequestState>> = {
  'send to review': 'In review',
  approve: 'Approved',
  reject: 'Rejected',
  cancel: 'Cancelled',
  apply: 'Applied',
  run: 'Applied',
  schedule: 'Scheduled',
  fail: 'Scheduled',
  suspend: 'Scheduled',
};

/**
 * The transition of a command from the current state.
 * @param minApprovals the number of approvals that the request needs now
 * @throws Refusal with the reason if the transition does not exist, or if the actor may not take it now.
 */
export function requireTransition(
  request: ChangeRequest,
  command: CommandName,
  { by, roles }: Pick<ActorWithRoles, 'by' | 'roles'>,
  minApprovals = request.minApprovals,
): Transition {
  const verdict = checkTransition(request.state, command, roles, factsOf(request, command, by.id, minApprovals));
  switch (verdict.is) {
    case 'allowed':
      return verdict.transition;
    case 'not permitted':
      throw notPermitted(verdict.requiredRole, roles, request.environment);
    case 'not ready':
      throw verdict.guard === 'has changes'
        ? refusal('ConflictError', 'Change request has no changes')
        : approvalsLost();
    case 'no such transition':
      throw command === 'discard'
        ? notAllowedInState('discarded: only a draft can', request)
        : transitionNotAllowed(targetOf[command], request);
  }
}

/** The states to which the actor may move the request now, without those that would change nothing. */
export function allowedStates(
  request: ChangeRequest,
  { by, roles }: Pick<ActorWithRoles, 'by' | 'roles'>,
  minApprovals: number,
): ChangeRequestState[] {
  if (request.applying !== null) return [];
  return changeRequestStates.filter((state) => {
    const command = commandFor[state];
    if (command === undefined) return false;
    const verdict = checkTransition(request.state, command, roles, factsOf(request, command, by.id, minApprovals));
    if (verdict.is !== 'allowed') return false;
    const { to, emits } = verdict.transition;
    const isRepeated = command === 'approve' && hasApprovalOf(request, by.id);
    return to !== request.state || (emits.length > 0 && !isRepeated);
  });
}

/** A command that takes effect immediately, with its arguments. Of the others, `apply` and `run` are in apply-attempt.ts, `discard` is below. */
export type ImmediateCommand =
  | { readonly name: 'send to review' | 'reject' | 'cancel' }
  | { readonly name: 'approve'; readonly basis: string | null }
  /** the time at which to apply the request, and the state that it would replace as of now */
  | { readonly name: 'schedule'; readonly schedule: Pick<Schedule, 'scheduledAt' | 'snapshots'> }
  /** the reason is shown to users */
  | { readonly name: 'fail' | 'suspend'; readonly reason: string };

/** A command that takes effect when an attempt to apply the request ends. */
export interface ApplyCommand {
  readonly name: 'apply' | 'run';
}

/** What a user may send with any command. */
export interface CommandInput {
  readonly comment?: NewComment | undefined;
  /** the revision that the user has seen */
  readonly revision?: number | undefined;
  /** the number of approvals that the request needs now; without it that of its creation */
  readonly minApprovals?: number | undefined;
}

/** Refuses a command if the content was edited since the user read it. */
export function requireRevision({ revision }: ChangeRequest, seen: number | undefined): void {
  if (seen !== undefined && seen !== revision) throw changedBySomeoneElse();
}

function hasApprovalOf({ approvals }: ChangeRequest, userId: number): boolean {
  return approvals.some(({ createdBy }) => createdBy.id === userId);
}

function toScheduleData(schedule: Schedule | null) {
  return schedule === null ? null : { status: schedule.status, scheduledDate: schedule.scheduledAt };
}

/** The contents of an event besides the request. */
function detailsOf(
  type: TransitionEvent,
  before: ChangeRequest,
  after: ChangeRequest,
  { comment, minApprovals = after.minApprovals }: CommandInput,
): EventDetails {
  const preData = { state: before.state };
  const approvals = { approvals: after.approvals.length, minApprovals };
  switch (type) {
    case 'change-request-sent-to-review':
    case 'change-request-rejected':
    case 'change-request-cancelled':
      return { data: comment === undefined ? {} : { comment: comment.text }, preData };
    case 'change-request-approval-added':
      return { data: approvals };
    case 'change-request-approved':
      return { data: approvals, preData };
    case 'change-request-applied':
      return { data: { changes: after.changes.length }, preData };
    case 'change-request-scheduled':
      return { data: { scheduledDate: after.schedule?.scheduledAt }, preData: toScheduleData(before.schedule) };
    case 'change-request-scheduled-application-success':
      return { data: { scheduledDate: before.schedule?.scheduledAt } };
    case 'change-request-scheduled-application-failure':
      return { data: { scheduledDate: after.schedule?.scheduledAt, reason: after.schedule?.reason } };
    case 'change-request-schedule-suspended':
      return {
        data: { reason: after.schedule?.reason },
        preData: { status: before.schedule?.status, scheduledBy: before.schedule?.by.id },
      };
    case 'change-request-discarded':
      return { data: { changes: before.changes.length } };
  }
}

function scheduleAfter(
  before: Schedule | null,
  command: ImmediateCommand | ApplyCommand,
  { by }: Actor,
): Schedule | null {
  switch (command.name) {
    case 'schedule':
      return { status: 'pending', by, reason: null, ...command.schedule };
    case 'fail':
      return before === null ? null : { ...before, status: 'failed', reason: command.reason };
    case 'suspend':
      return before === null ? null : { ...before, status: 'suspended', reason: command.reason };
    default:
      return null;
  }
}

/** Applies one transition of the table. Besides, an edit of its content may return a request to review: see content/replace-content.ts. */
export function takeTransition(
  before: ChangeRequest,
  { to, emits }: Transition,
  command: ImmediateCommand | ApplyCommand,
  { actor, ...input }: CommandInput & { readonly actor: Actor },
): ChangeRequestDecision {
  const { by, now } = actor;
  const createdAt = now.toISOString();
  const eventsOf = (after: ChangeRequest) =>
    emits.map((type) => eventOf(type, before, actor, detailsOf(type, before, after, input)));
  if (to === null)
    throw new Error(`The command ${command.name} deletes change request ${before.id}: use discardDraft.`);
  const newTimestamp = to === before.state && command.name !== 'schedule' ? {} : { [to]: createdAt };
  const isNewApproval = !hasApprovalOf(before, by.id);
  const taken: ChangeRequest = {
    ...withComment(before, input.comment, actor),
    state: to,
    stateTimestamps: { ...before.stateTimestamps, ...newTimestamp },
    approvals:
      command.name === 'approve' && isNewApproval
        ? [...before.approvals, { createdBy: by, createdAt, basis: command.basis }]
        : before.approvals,
    rejections: command.name === 'reject' ? [...before.rejections, { createdBy: by, createdAt }] : before.rejections,
    schedule: scheduleAfter(before.schedule, command, actor),
    applying: null,
  };
  // A first approval of two leads to no other state.
  const after = to === before.state && taken.schedule === null ? taken : withStep(taken, actor, command.name === 'run');
  return { request: after, events: eventsOf(after) };
}

/**
 * Carries out a command if the transition table allows it. A repeated approval by the same user emits no event, unless the request needs fewer
 * approvals by now and becomes approved.
 */
export function executeCommand(
  request: ChangeRequest,
  command: ImmediateCommand,
  actor: ActorWithRoles,
  input: CommandInput = {},
): ChangeRequestDecision {
  requireNotBeingApplied(request);
  const transition = requireTransition(request, command.name, actor, input.minApprovals);
  requireRevision(request, input.revision);
  const isRepeated = command.name === 'approve' && hasApprovalOf(request, actor.by.id);
  if (isRepeated && transition.to === request.state) {
    return withoutEvents(withComment(request, input.comment, actor));
  }
  return takeTransition(request, transition, command, { actor, ...input });
}

/** The events of deleting a draft. @throws Refusal if the request is no draft, or the actor is not its author */
export function discardDraft(request: ChangeRequest, actor: ActorWithRoles): ChangeRequestDecision['events'] {
  requireNotBeingApplied(request);
  const { emits } = requireTransition(request, 'discard', actor);
  return emits.map((type) => eventOf(type, request, actor, detailsOf(type, request, request, {})));
}

/** Suspends a pending or failed schedule with a reason for users. Any other request is returned unchanged. */
export function suspendSchedule(request: ChangeRequest, reason: string, actor: Actor): ChangeRequestDecision {
  if (request.schedule === null || request.schedule.status === 'suspended' || request.applying !== null) {
    return withoutEvents(request);
  }
  return executeCommand(request, { name: 'suspend', reason }, { ...actor, roles: systemRoles });
}

const path = '/body/scheduledAt';

/** The requested time of a schedule, in ISO 8601. */
export function parseScheduledAt(text: string | undefined): string {
  if (text === undefined) {
    throw invalid(`The \`${path}\` property is required. It was not present on the data you sent.`, path);
  }
  const scheduledAt = new Date(text);
  if (Number.isNaN(scheduledAt.getTime()))
    throw invalid(`The \`${path}\` property must be a date and time that exists.`, path);
  return scheduledAt.toISOString();
}

export function requireFuture(scheduledAt: string, now: Date): void {
  if (Date.parse(scheduledAt) > now.getTime()) return;
  throw invalid(`The \`${path}\` property must be in the future. You provided "${scheduledAt}".`, path);
}

function system(now: Date) {
  return { by: { id: systemCaller.id, name: systemCaller.name }, now };
}

/** The reason to suspend a schedule after a user was deleted; undefined if the schedule does not depend on that user. */
function reasonFor(request: ChangeRequest, userId: number): string | undefined {
  if (request.schedule?.by.id === userId) {
    return `The user who scheduled this change request (user id: ${userId}) has been deleted`;
  }
  return request.createdBy.id === userId
    ? `The author of this change request (user id: ${userId}) has been deleted`
    : undefined;
}

/**
 * Removes a deleted user from an open request, after their approval was taken back. Their own request is cancelled unless it is scheduled. A
 * schedule that they set or that applies their request is suspended.
 */
export function removeUserFromRequest(request: ChangeRequest, userId: number, now: Date): ChangeRequestDecision {
  if (isPending(request)) {
    return request.createdBy.id === userId
      ? executeCommand(request, { name: 'cancel' }, { ...system(now), roles: { ...noRoles, isAdministrator: true } })
      : withoutEvents(request);
  }
  const reason = request.schedule === null ? undefined : reasonFor(request, userId);
  return reason === undefined ? withoutEvents(request) : suspendSchedule(request, reason, system(now));
}
