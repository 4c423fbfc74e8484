import {
  type Actor,
  type ChangeRequest,
  type ChangeRequestDecision,
  type Schedule,
  withoutEvents,
} from '../requests/change-request.ts';
import { type NewComment, withComment } from '../domain/title-and-comments.ts';
import { requireNotBeingApplied } from '../domain/require-not-being-applied.ts';
import { type EventDetails, eventOf } from '../requests/events.ts';
import { changedBySomeoneElse } from '../domain/refusals.ts';
import { type ActorWithRoles, requireTransition } from '../domain/transitions/require-transition.ts';
import { systemRoles } from '../reviews/request-roles.ts';
import type { Transition, TransitionEvent } from './state-machine.ts';

/** A command that takes effect immediately, with its arguments. Of the others, `apply` and `run` are in apply-attempt.ts, `discard` is below. */
export type ImmediateCommand =
  | { readonly name: 'send to review' | 'approve' | 'reject' | 'cancel' }
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
export const requireRevision = ({ revision }: ChangeRequest, seen: number | undefined): void => {
  if (seen !== undefined && seen !== revision) throw changedBySomeoneElse();
};

const hasApprovalOf = ({ approvals }: ChangeRequest, userId: number): boolean =>
  approvals.some(({ createdBy }) => createdBy.id === userId);

const toScheduleData = (schedule: Schedule | null) =>
  schedule === null ? null : { status: schedule.status, scheduledDate: schedule.scheduledAt };

/** The contents of an event besides the request. */
const detailsOf = (
  type: TransitionEvent,
  before: ChangeRequest,
  after: ChangeRequest,
  { comment, minApprovals = after.minApprovals }: CommandInput,
): EventDetails => {
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
      return { data: { reason: after.schedule?.reason }, preData: { status: before.schedule?.status } };
    case 'change-request-discarded':
      return { data: { changes: before.changes.length } };
  }
};

const scheduleAfter = (
  before: Schedule | null,
  command: ImmediateCommand | ApplyCommand,
  { by }: Actor,
): Schedule | null => {
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
};

/** Applies one transition of the table. Besides, an edit of its content may return a request to review: see content/replace-content.ts. */
export const takeTransition = (
  before: ChangeRequest,
  { to, emits }: Transition,
  command: ImmediateCommand | ApplyCommand,
  { actor, ...input }: CommandInput & { readonly actor: Actor },
): ChangeRequestDecision => {
  const { by, now } = actor;
  const createdAt = now.toISOString();
  const eventsOf = (after: ChangeRequest) =>
    emits.map((type) => eventOf(type, before, actor, detailsOf(type, before, after, input)));
  if (to === null)
    throw new Error(`The command ${command.name} deletes change request ${before.id}: use discardDraft.`);
  const newTimestamp = to === before.state && command.name !== 'schedule' ? {} : { [to]: createdAt };
  const isNewApproval = command.name === 'approve' && !hasApprovalOf(before, by.id);
  const after: ChangeRequest = {
    ...withComment(before, input.comment, actor),
    state: to,
    stateTimestamps: { ...before.stateTimestamps, ...newTimestamp },
    approvals: isNewApproval ? [...before.approvals, { createdBy: by, createdAt }] : before.approvals,
    rejections: command.name === 'reject' ? [...before.rejections, { createdBy: by, createdAt }] : before.rejections,
    schedule: scheduleAfter(before.schedule, command, actor),
    applying: null,
  };
  return { request: after, events: eventsOf(after) };
};

/**
 * Carries out a command if the transition table allows it. A repeated approval by the same user emits no event, unless the request needs fewer
 * approvals by now and becomes approved.
 */
export const executeCommand = (
  request: ChangeRequest,
  command: ImmediateCommand,
  actor: ActorWithRoles,
  input: CommandInput = {},
): ChangeRequestDecision => {
  requireNotBeingApplied(request);
  const transition = requireTransition(request, command.name, actor, input.minApprovals);
  requireRevision(request, input.revision);
  const isRepeated = command.name === 'approve' && hasApprovalOf(request, actor.by.id);
  if (isRepeated && transition.to === request.state) {
    return withoutEvents(withComment(request, input.comment, actor));
  }
  return takeTransition(request, transition, command, { actor, ...input });
};

/** The events of deleting a draft. @throws Refusal if the request is no draft, or the actor is not its author */
export const discardDraft = (request: ChangeRequest, actor: ActorWithRoles): ChangeRequestDecision['events'] => {
  requireNotBeingApplied(request);
  const { emits } = requireTransition(request, 'discard', actor);
  return emits.map((type) => eventOf(type, request, actor, detailsOf(type, request, request, {})));
};

/** Suspends a pending or failed schedule with a reason for users. Any other request is returned unchanged. */
export const suspendSchedule = (request: ChangeRequest, reason: string, actor: Actor): ChangeRequestDecision => {
  if (request.schedule === null || request.schedule.status === 'suspended' || request.applying !== null) {
    return withoutEvents(request);
  }
  return executeCommand(request, { name: 'suspend', reason }, { ...actor, roles: systemRoles });
};
