import {
  type AppliedChanges,
  type Caller,
  type ChangeRequestPreview,
  type ConflictCode,
  may,
  overwriteMessage,
  Refusal,
} from '@bunting/contracts';
import { payloadIdOf } from '../proposals/proposed-change.ts';
import {
  type ChangeRequest,
  type ChangeRequestDecision,
  type ProposedChange,
  withoutEvents,
} from '../requests/change-request.ts';
import type { ReviewRequirement } from '../reviews/approvals.ts';
import { systemRoles } from '../reviews/request-roles.ts';
import {
  abandonApplyAttempt,
  beginApplyAttempt,
  failureReason,
  segmentPermissionsOf,
} from '../states/apply-attempt.ts';
import { suspendSchedule } from '../states/commands.ts';

/** The user who scheduled a request, with their current permissions. An admin token belongs to no user who could be deleted. */
export type Scheduler =
  | { readonly kind: 'admin token' }
  | { readonly kind: 'user'; readonly caller: Caller }
  | { readonly kind: 'deleted user' };

export interface ScheduledRunFacts {
  readonly scheduler: Scheduler;
  /** milliseconds since the scheduled time */
  readonly delayMs: number;
  /** the segments that the request would delete although another request uses them */
  readonly conflicts: AppliedChanges['conflicts'];
  /** what the request needs now */
  readonly requirement: ReviewRequirement;
  readonly now: Date;
}

/** The request as its run begins; or the failed or suspended request. With the events to emit. */
export type ScheduledRun = ChangeRequestDecision & { readonly isBegun: boolean };

/** A scheduled run that is later than this fails: a release planned for the night must not happen at noon. */
const maxDelayMs = 15 * 60_000;

/** The reason why a run fails instead of beginning. @param caller the user who scheduled it; undefined for an admin token */
function failureOf(
  { project, environment }: ChangeRequest,
  caller: Caller | undefined,
  { delayMs, conflicts, requirement }: ScheduledRunFacts,
): string | undefined {
  if (delayMs > maxDelayMs) return 'it could not begin within 15 minutes of the scheduled time';
  const missingIn = [environment, ...requirement.affectedEnvironments].find(
    (name) => caller !== undefined && !may(caller, ['APPLY_CHANGE_REQUEST'], { project, environment: name }),
  );
  if (caller !== undefined && missingIn !== undefined)
    return missingIn === environment
      ? `the user who scheduled it (user id: ${caller.id}) no longer has the permission to apply it`
      : `the user who scheduled it (user id: ${caller.id}) does not have the permission to apply it in the environment ${missingIn}`;
  return conflicts.length > 0 ? failureReason(conflicts) : undefined;
}

/**
 * Begins the run of a request whose scheduled time has come, for the user who scheduled it. The schedule of a deleted user is
 * suspended. A run that is too late, not permitted any more or in conflict fails.
 */
export function beginScheduledRun(request: ChangeRequest, facts: ScheduledRunFacts): ScheduledRun {
  const { scheduler, now } = facts;
  if (request.schedule === null) throw new Error(`Change request ${request.id} is not scheduled.`);
  const { by } = request.schedule;
  const suspended = (reason: string): ScheduledRun => ({
    isBegun: false,
    ...suspendSchedule(request, reason, { by, now }),
  });
  if (scheduler.kind === 'deleted user')
    return suspended(`The user who scheduled this change request (user id: ${by.id}) has been deleted or disabled`);
  const caller = scheduler.kind === 'user' ? scheduler.caller : undefined;
  const username = caller?.username;
  try {
    const actor = { by: { ...by, ...(username === undefined ? {} : { username }) }, now, roles: systemRoles };
    const { minApprovals, affectedEnvironments: authorisedEnvironments } = facts.requirement;
    const input = {
      displayName: caller?.displayName,
      minApprovals,
      authorisedEnvironments,
      segmentPermissions: segmentPermissionsOf(caller),
    };
    const begun = beginApplyAttempt(request, 'run', actor, input);
    const reason = failureOf(request, caller, facts);
    if (reason === undefined) return { isBegun: true, ...withoutEvents(begun) };
    return { isBegun: false, ...abandonApplyAttempt(begun, now, { name: 'fail', reason }) };
  } catch (error) {
    if (error instanceof Refusal) return suspended(error.message);
    throw error;
  }
}

/** By the code of a conflict that concerns a whole feature. */
const featureReasons: Readonly<Partial<Record<ConflictCode, (name: string, request: ChangeRequest) => string>>> = {
  'feature-archived': (name) => `Feature flag ${name} was archived`,
  'feature-deleted': (name) => `Feature flag ${name} was deleted`,
  'feature-moved': (name) => `Feature flag ${name} was moved to another project`,
  'environment-unlinked': (_, { environment, project }) =>
    `Environment ${environment} was removed from project ${project}`,
};

function conflictReason(change: ProposedChange, code: ConflictCode | undefined, text: string): string {
  if (code === 'strategy-deleted')
    return `Strategy ${String(payloadIdOf(change.payload))} of feature flag ${change.feature} was deleted`;
  if (code === 'segment-missing' && change.segment !== null) {
    return `Segment ${change.segment.id} (${change.segment.name}) was deleted`;
  }
  return text;
}

/** The first reason in a preview to suspend a scheduled request; undefined if there is none. */
export function suspensionReason(
  request: ChangeRequest,
  { features, segments }: ChangeRequestPreview,
): string | undefined {
  const changeOf = (id: number) => request.changes.find((change) => change.id === id);
  for (const { name, conflict, conflictCode } of features) {
    if (conflict === undefined) continue;
    const reasonOf = conflictCode === undefined ? undefined : featureReasons[conflictCode];
    return reasonOf?.(name, request) ?? conflict;
  }
  const previewed = [...features, ...segments].flatMap(({ changes }) => changes);
  for (const { id, conflict, conflictCode } of previewed) {
    const change = changeOf(id);
    if (conflict !== undefined && change !== undefined) return conflictReason(change, conflictCode, conflict);
  }
  for (const { id, overwrites } of previewed) {
    const change = changeOf(id);
    if (overwrites !== undefined && change !== undefined) return overwriteMessage(change, request.environment);
  }
  return undefined;
}
