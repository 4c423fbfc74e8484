import { maxChangesPerChangeRequest, refusal } from '@bunting/contracts';
import type { Actor, ChangeRequest, ChangeRequestDecision, ProposedChange } from '../requests/change-request.ts';
import { type ContentStep, eventOf, eventOfStep } from '../requests/events.ts';
import { requireNotBeingApplied } from '../domain/require-not-being-applied.ts';
import { contentEditOfState } from '../domain/content/pending-states.ts';

/**
 * Replaces the content of a request. Approvals of the previous content are removed, and an approved request returns to review.
 */
export const replaceContent = (
  before: ChangeRequest,
  changes: readonly ProposedChange[],
  steps: readonly ContentStep[],
  actor: Actor,
): ChangeRequestDecision => {
  requireNotBeingApplied(before);
  const edit = contentEditOfState[before.state];
  if (edit === undefined) {
    throw refusal('ConflictError', `The changes of a change request in state "${before.state}" cannot be edited`);
  }
  if (changes.length > maxChangesPerChangeRequest) {
    throw refusal('ConflictError', `A change request can hold at most ${maxChangesPerChangeRequest} changes`);
  }
  const newTimestamp = edit.to === before.state ? {} : { [edit.to]: actor.now.toISOString() };
  const request: ChangeRequest = {
    ...before,
    state: edit.to,
    stateTimestamps: { ...before.stateTimestamps, ...newTimestamp },
    revision: before.revision + 1,
    changes,
    approvals: edit.keepsApprovals ? before.approvals : [],
  };
  const events = steps.map((step) => eventOfStep(step, request, actor));
  if (edit.emits !== undefined) {
    const preData = { state: before.state };
    events.push(eventOf(edit.emits, request, actor, { data: { reason: 'changed' }, preData }));
  }
  return { request, events };
};
