import type { AppliedChanges } from '@bunting/contracts';
import {
  type Applying,
  type ChangeRequest,
  type Decision,
  type PendingReply,
  withoutEvents,
} from '../change-request.ts';
import { requireNotBeingApplied } from '../content/edit-content.ts';
import { type CommandInput, executeCommand, requireRevision, takeTransition } from './execute-command.ts';
import { type ActorWithRoles, requireTransition } from './require-transition.ts';
import { systemRoles } from './roles.ts';

// Applying a request is an attempt: `beginApplying` marks the request, then the features service is called, and `finishApplying` ends the
// attempt with its result. In between every other command is refused.

interface AttemptInput extends CommandInput {
  /** the name of the user for display, if it is another */
  readonly displayName?: string | undefined;
  /** the reply for retries, stored once the request is applied */
  readonly pendingReply?: PendingReply | undefined;
}

/** Begins an attempt to apply a request: `apply` for a user, `run` at its scheduled time. */
export const beginApplying = (
  request: ChangeRequest,
  command: 'apply' | 'run',
  actor: ActorWithRoles,
  { comment, revision, displayName, pendingReply }: AttemptInput = {},
): ChangeRequest => {
  requireNotBeingApplied(request);
  requireTransition(request, command, actor);
  requireRevision(request, revision);
  const applying: Applying = {
    by: actor.by,
    displayName,
    since: actor.now.toISOString(),
    scheduled: command === 'run',
    comment,
    pendingReply,
  };
  return { ...request, applying, attempts: request.attempts + 1 };
};

/** True if this very write, identified by its idempotency key, began the current attempt. */
export const isStartedByThisWrite = ({ applying }: ChangeRequest, pendingReply: PendingReply | undefined): boolean => {
  const before = applying?.pendingReply;
  return (
    before !== undefined &&
    before.scope === pendingReply?.scope &&
    before.hashedKey === pendingReply.hashedKey &&
    before.fingerprint === pendingReply.fingerprint
  );
};

/** The current attempt. @throws Error if there is none: a defect */
export const requireApplying = ({ id, applying }: ChangeRequest): Applying => {
  if (applying === null) throw new Error(`Change request ${id} is not being applied: call beginApplying first.`);
  return applying;
};

/** Ends an attempt with success. */
export const endApplying = (request: ChangeRequest, now: Date): Decision => {
  const { by, scheduled, comment } = requireApplying(request);
  const name = scheduled ? 'run' : 'apply';
  const actor = { by, now, roles: { ...systemRoles, applier: true } };
  return takeTransition(request, requireTransition(request, name, actor), { name }, actor, comment);
};

/** Ends an attempt without effect, and without its comment. A scheduled run fails or is suspended. */
export const abandonApplying = (
  request: ChangeRequest,
  now: Date,
  outcome: { readonly name: 'fail' | 'suspend'; readonly reason: string },
): Decision => {
  const { by, scheduled } = requireApplying(request);
  const atRest = { ...request, applying: null };
  if (!scheduled) return withoutEvents(atRest);
  return executeCommand(atRest, outcome, { by, now, roles: systemRoles });
};

/** The reason of a failed run, as users see it. */
export const failureReason = (conflicts: AppliedChanges['conflicts']): string =>
  `conflicts: ${conflicts[0]?.message ?? 'unknown'} (${conflicts.length} in total)`;

/**
 * Ends an attempt with the result of the features service. A scheduled run that would overwrite newer edits is suspended, and one in
 * conflict fails; a request that a user applies returns to its state before the attempt.
 */
export const finishApplying = (request: ChangeRequest, { outcome, conflicts }: AppliedChanges, now: Date): Decision => {
  switch (outcome) {
    case 'applied':
      return endApplying(request, now);
    case 'overwrites': {
      const reason = conflicts[0]?.message ?? 'Applying would overwrite newer edits';
      return abandonApplying(request, now, { name: 'suspend', reason });
    }
    case 'conflict':
      return abandonApplying(request, now, { name: 'fail', reason: failureReason(conflicts) });
  }
};
