import {
  type ChangeRequestState,
  changeRequestStates,
  type EventType,
  maxChangesPerChangeRequest,
  refusal,
} from '@bunting/contracts';
import type { Actor, ChangeRequest, Decision, EnvironmentRef, ProposedChange } from '../change-request.ts';
import { type ContentStep, eventOf, eventOfStep } from '../events.ts';

interface ContentEdit {
  readonly to: ChangeRequestState;
  readonly keepsApprovals: boolean;
  readonly emits?: EventType;
}

/** The effect of a content edit, by state of the request. In every other state edits are refused. */
const contentEdits: Readonly<Partial<Record<ChangeRequestState, ContentEdit>>> = {
  Draft: { to: 'Draft', keepsApprovals: true },
  'In review': { to: 'In review', keepsApprovals: false },
  Approved: { to: 'In review', keepsApprovals: false, emits: 'change-request-sent-to-review' },
};

/** The states of a pending request: changes can be added to it. */
export const pendingStates = changeRequestStates.filter((state) => contentEdits[state] !== undefined);

export const isPending = ({ state }: Pick<ChangeRequest, 'state'>): boolean => pendingStates.includes(state);

/** Whether changes can be added to the request now. @param onlyToDraft whether only a draft counts */
export const acceptsChanges = (
  request: Pick<ChangeRequest, 'state' | 'applying'>,
  { onlyToDraft }: { readonly onlyToDraft: boolean },
): boolean => (onlyToDraft ? request.state === 'Draft' : isPending(request)) && request.applying === null;

/** @throws Refusal `ConflictError` while an attempt to apply the request is in progress. */
export const requireNotBeingApplied = ({ applying }: Pick<ChangeRequest, 'applying'>): void => {
  if (applying !== null) throw refusal('ConflictError', 'Change request is being applied');
};

type Origin = Pick<ChangeRequest, 'id' | 'uid' | 'project' | 'environment' | 'minApprovals'>;

/** Creates an empty draft. */
export const createDraft = (origin: Origin, actor: Actor): Decision => {
  const createdAt = actor.now.toISOString();
  const request: ChangeRequest = {
    ...origin,
    title: null,
    state: 'Draft',
    createdBy: actor.by,
    createdAt,
    revision: 0,
    stateTimestamps: { Draft: createdAt },
    changes: [],
    approvals: [],
    rejections: [],
    comments: [],
    schedule: null,
    applying: null,
    attempts: 0,
    requestedApprovers: [],
  };
  const data = { minApprovals: request.minApprovals };
  return { request, events: [eventOf('change-request-created', request, actor, { data })] };
};

/** An empty draft to compute a preview with, which is not stored. */
export const unsavedDraft = (environmentRef: EnvironmentRef, actor: Actor): ChangeRequest =>
  createDraft({ id: 0, uid: null, ...environmentRef, minApprovals: 1 }, actor).request;

/**
 * Replaces the content of a request. Approvals of the previous content are removed, and an approved request returns to review.
 */
export const editContent = (
  before: ChangeRequest,
  changes: readonly ProposedChange[],
  steps: readonly ContentStep[],
  actor: Actor,
): Decision => {
  requireNotBeingApplied(before);
  const edit = contentEdits[before.state];
  if (edit === undefined) {
    throw refusal('ConflictError', `The changes of a change request in state "${before.state}" cannot be edited`);
  }
  if (changes.length > maxChangesPerChangeRequest) {
    throw refusal('ConflictError', `A change request can hold at most ${maxChangesPerChangeRequest} changes`);
  }
  const entered = edit.to === before.state ? {} : { [edit.to]: actor.now.toISOString() };
  const request: ChangeRequest = {
    ...before,
    state: edit.to,
    stateTimestamps: { ...before.stateTimestamps, ...entered },
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
