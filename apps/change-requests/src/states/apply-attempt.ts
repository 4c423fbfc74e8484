import { type AppliedChanges, asJsonObject, type Caller, may, noAccess, rootScope } from '@bunting/contracts';
import {
  type ApplyAttempt,
  type ChangeRequest,
  type ChangeRequestDecision,
  type PendingReply,
  type SegmentPermission,
  withoutEvents,
  requireNotBeingApplied,
} from '../requests/change-request.ts';
import {
  type CommandInput,
  executeCommand,
  requireRevision,
  takeTransition,
  type ActorWithRoles,
  requireTransition,
} from './commands.ts';
import { systemRoles } from '../reviews/request-roles.ts';

// Applying a request is an attempt: `beginApplyAttempt` marks the request, then the features service is called, and `finishApplyAttempt`
// ends the attempt with its result. In between every other command is refused.

interface AttemptInput extends CommandInput {
  /** the protected environments that the request affects, for which it is approved */
  readonly authorisedEnvironments: readonly string[];
  /** the permissions that the user has for segments of all projects */
  readonly segmentPermissions: readonly SegmentPermission[];
  /** the name of the user for display, if it is another */
  readonly displayName?: string | undefined;
  /** the reply for retries, stored once the request is applied */
  readonly pendingReply?: PendingReply | undefined;
}

/** The permissions that a user has for segments of all projects. @param caller undefined for an admin token */
export function segmentPermissionsOf(caller: Caller | undefined): readonly SegmentPermission[] {
  const all: readonly SegmentPermission[] = ['UPDATE_SEGMENT', 'DELETE_SEGMENT'];
  return all.filter((permission) => caller === undefined || may(caller, [permission], rootScope));
}

/**
 * Refuses to apply or schedule changes of segments of all projects for a user who may not make them directly. What counts here is whose the
 * segments were when the changes were proposed; the features service compares whose they are when it applies them.
 */
export function requireSegmentPermissions({ changes }: ChangeRequest, caller: Caller): void {
  const permissions = segmentPermissionsOf(caller);
  for (const { action, segment, snapshot } of changes) {
    if (segment === null || asJsonObject(snapshot)['project'] !== null) continue;
    const needed = action === 'deleteSegment' ? 'DELETE_SEGMENT' : 'UPDATE_SEGMENT';
    if (!permissions.includes(needed)) throw noAccess([needed]);
  }
}

/** Begins an attempt to apply a request: `apply` for a user, `run` at its scheduled time. */
export function beginApplyAttempt(
  request: ChangeRequest,
  command: 'apply' | 'run',
  actor: ActorWithRoles,
  {
    comment,
    revision,
    minApprovals,
    authorisedEnvironments,
    segmentPermissions,
    displayName,
    pendingReply,
  }: AttemptInput,
): ChangeRequest {
  requireNotBeingApplied(request);
  requireTransition(request, command, actor, minApprovals);
  requireRevision(request, revision);
  const applying: ApplyAttempt = {
    by: actor.by,
    displayName,
    since: actor.now.toISOString(),
    scheduled: command === 'run',
    comment,
    authorisedEnvironments,
    segmentPermissions,
    minApprovals,
    pendingReply,
  };
  return { ...request, applying, attempts: request.attempts + 1 };
}

/** True if this very write, identified by its idempotency key, began the current attempt. */
export function isStartedByThisWrite({ applying }: ChangeRequest, pendingReply: PendingReply | undefined): boolean {
  const before = applying?.pendingReply;
  return (
    before !== undefined &&
    before.scope === pendingReply?.scope &&
    before.hashedKey === pendingReply.hashedKey &&
    before.fingerprint === pendingReply.fingerprint
  );
}

/** The current attempt. @throws Error if there is none: a defect */
export function requireApplyAttempt({ id, applying }: ChangeRequest): ApplyAttempt {
  if (applying === null) throw new Error(`Change request ${id} is not being applied: call beginApplyAttempt first.`);
  return applying;
}

/** Ends an attempt with success. */
export function completeApplyAttempt(request: ChangeRequest, now: Date): ChangeRequestDecision {
  const { by, scheduled, comment, minApprovals = request.minApprovals } = requireApplyAttempt(request);
  const name = scheduled ? 'run' : 'apply';
  const actor = { by, now, roles: { ...systemRoles, applier: true } };
  const needed = { ...request, minApprovals };
  return takeTransition(needed, requireTransition(needed, name, actor), { name }, { actor, comment });
}

/** Ends an attempt without effect, and without its comment. A scheduled run fails or is suspended. */
export function abandonApplyAttempt(
  request: ChangeRequest,
  now: Date,
  outcome: { readonly name: 'fail' | 'suspend'; readonly reason: string },
): ChangeRequestDecision {
  const { by, scheduled } = requireApplyAttempt(request);
  const withoutAttempt = { ...request, applying: null };
  if (!scheduled) return withoutEvents(withoutAttempt);
  return executeCommand(withoutAttempt, outcome, { by, now, roles: systemRoles });
}

/** The reason of a failed run, as users see it. */
export function failureReason(conflicts: AppliedChanges['conflicts']): string {
  return `conflicts: ${conflicts[0]?.message ?? 'unknown'} (${conflicts.length} in total)`;
}

/**
 * Ends an attempt with the result of the features service. A scheduled run that would overwrite newer edits is suspended, and one in
 * conflict fails; a request that a user applies returns to its state before the attempt.
 */
export function finishApplyAttempt(
  request: ChangeRequest,
  { outcome, conflicts }: AppliedChanges,
  now: Date,
): ChangeRequestDecision {
  switch (outcome) {
    case 'applied':
      return completeApplyAttempt(request, now);
    case 'overwrites': {
      const reason = conflicts[0]?.message ?? 'Applying would overwrite newer edits';
      return abandonApplyAttempt(request, now, { name: 'suspend', reason });
    }
    case 'conflict':
      return abandonApplyAttempt(request, now, { name: 'fail', reason: failureReason(conflicts) });
  }
}
