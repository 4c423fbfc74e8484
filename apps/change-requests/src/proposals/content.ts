import {
  type Change,
  type ChangeRequestState,
  changeRequestStates,
  type CheckedChange,
  type ErrorDetail,
  invalid,
  invalidProperty,
  type InverseChange,
  maxBytesPerChangeRequest,
  maxChangesPerChangeRequest,
  notFound,
  refusal,
  Refusal,
} from '@bunting/contracts';
import {
  type Actor,
  type ChangeRequest,
  type ChangeRequestDecision,
  type EnvironmentRef,
  type NewComment,
  notAllowedInState,
  onlyAuthorCan,
  type ProposedChange,
  requireNotBeingApplied,
  withComment,
  withoutEvents,
  withStep,
} from '../requests/change-request.ts';
import { type ContentStep, eventOf, eventOfStep, stateBeforeReview } from '../requests/events.ts';
import { mergeChange, replacedState } from './merge-change.ts';
import { payloadIdOf, reservedIdOfNthChange, toProposedChange, toUncheckedForm } from './proposed-change.ts';

interface ContentEdit {
  readonly to: ChangeRequestState;
  readonly keepsApprovals: boolean;
}

/** The effect of a content edit, by state of the request. In every other state edits are refused. */
const contentEditOfState: Readonly<Partial<Record<ChangeRequestState, ContentEdit>>> = {
  Draft: { to: 'Draft', keepsApprovals: true },
  'In review': { to: 'In review', keepsApprovals: false },
  Approved: { to: 'In review', keepsApprovals: false },
};

/** The states of a pending request: changes can be added to it. */
export const pendingStates = changeRequestStates.filter((state) => contentEditOfState[state] !== undefined);

export function isPending({ state }: Pick<ChangeRequest, 'state'>): boolean {
  return pendingStates.includes(state);
}

/** Whether changes can be added to the request now. @param draftOnly whether only a draft counts */
export function acceptsChanges(
  request: Pick<ChangeRequest, 'state' | 'applying'>,
  { draftOnly }: { readonly draftOnly: boolean },
): boolean {
  return (draftOnly ? request.state === 'Draft' : isPending(request)) && request.applying === null;
}

/**
 * Replaces the content of a request. Approvals of the previous content are removed, and an approved request returns to review. Reviews are asked
 * for again where there were approvals.
 */
function replaceContent(
  before: ChangeRequest,
  changes: readonly ProposedChange[],
  steps: readonly ContentStep[],
  actor: Actor,
): ChangeRequestDecision {
  requireNotBeingApplied(before);
  const edit = contentEditOfState[before.state];
  if (edit === undefined) {
    throw refusal('ConflictError', `The changes of a change request in state "${before.state}" cannot be edited`);
  }
  if (changes.length > maxChangesPerChangeRequest) {
    throw refusal('ConflictError', `A change request can hold at most ${maxChangesPerChangeRequest} changes`);
  }
  const newTimestamp = edit.to === before.state ? {} : { [edit.to]: actor.now.toISOString() };
  const edited: ChangeRequest = {
    ...before,
    state: edit.to,
    stateTimestamps: { ...before.stateTimestamps, ...newTimestamp },
    revision: before.revision + 1,
    changes,
    approvals: edit.keepsApprovals ? before.approvals : [],
  };
  const isReviewedAgain = edit.to !== before.state || edited.approvals.length < before.approvals.length;
  const request = isReviewedAgain ? withStep(edited, actor) : edited;
  const events = steps.map((step) => eventOfStep(step, request, actor));
  if (isReviewedAgain) {
    const preData = stateBeforeReview(before, before.approvals);
    events.push(eventOf('change-request-sent-to-review', request, actor, { data: { reason: 'changed' }, preData }));
  }
  return { request, events };
}

type Origin = Pick<ChangeRequest, 'id' | 'uid' | 'project' | 'environment' | 'minApprovals'>;

/**
 * Creates an empty draft.
 * @param neededApprovals the number of approvals that it needs with the changes that it is created for
 */
export function createDraft(
  origin: Origin,
  actor: Actor,
  neededApprovals = origin.minApprovals,
): ChangeRequestDecision {
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
    reviewRequests: [],
    steps: [],
  };
  const data = { minApprovals: neededApprovals };
  return { request, events: [eventOf('change-request-created', request, actor, { data })] };
}

/** An empty draft to compute a preview with, which is not stored. */
export function unsavedDraft(environmentRef: EnvironmentRef, actor: Actor): ChangeRequest {
  return createDraft({ id: 0, uid: null, ...environmentRef, minApprovals: 1 }, actor).request;
}

/** The bytes of what changes store as JSON: their payloads, and the states that they replace. */
function contentBytes(changes: readonly ProposedChange[]): number {
  return changes.reduce(
    (sum, { payload, snapshot }) => sum + Buffer.byteLength(JSON.stringify([payload, snapshot])),
    0,
  );
}

/**
 * Refuses content that is larger than a change request may be. Content that exceeds the limit already, as that of a reverting draft may, can
 * still shrink.
 * @throws Refusal `ExceedsLimitError`
 */
function requireContentSize(before: readonly ProposedChange[], after: readonly ProposedChange[]): void {
  const bytes = contentBytes(after);
  if (bytes <= maxBytesPerChangeRequest || bytes <= contentBytes(before)) return;
  const message = `A change request can hold at most ${maxBytesPerChangeRequest} bytes, with what its changes replace. Propose fewer or smaller changes.`;
  throw refusal('ExceedsLimitError', message, { details: [{ message, path: '/body' }] });
}

/** Adds changes to a request in their order. Returns the same request and no events if it already contains all of them. */
export function addChanges(
  request: ChangeRequest,
  checked: readonly CheckedChange[],
  ids: readonly number[],
  actor: Actor,
): ChangeRequestDecision {
  let { changes } = request;
  let position = changes.at(-1)?.position ?? 0;
  const steps: ContentStep[] = [];
  const createdAt = actor.now.toISOString();
  for (const [nth, change] of checked.entries()) {
    const origin = { id: reservedIdOfNthChange(ids, nth), position: ++position, createdBy: actor.by, createdAt };
    const merged = mergeChange(changes, toProposedChange(change, origin));
    changes = merged.changes;
    steps.push(...merged.steps);
  }
  if (steps.length === 0) return withoutEvents(request);
  requireContentSize(request.changes, changes);
  return replaceContent(request, changes, steps, actor);
}

/** @throws Refusal `NoAccessError` unless the user is the author of the request. */
export function requireAuthor({ createdBy }: ChangeRequest, userId: number): void {
  if (createdBy.id !== userId) throw onlyAuthorCan('edit its changes');
}

export function requireChange({ changes, id }: ChangeRequest, changeId: number): ProposedChange {
  const change = changes.find((other) => other.id === changeId);
  if (change === undefined) throw notFound(`Could not find change with id ${changeId} in change request ${id}`);
  return change;
}

/** Refuses to change the action or the subject of a change: they are its identity. */
export function requireSameSubject(before: ProposedChange, change: Change): void {
  const differs = (path: string, was: unknown) =>
    invalid(`The \`${path}\` property must stay what it was: ${JSON.stringify(was)}.`, path);
  if (change.action !== before.action) throw differs('/body/action', before.action);
  if (before.feature !== null && change.feature !== before.feature) throw differs('/body/feature', before.feature);
  const { payload } = before;
  if (payloadIdOf(change.payload) !== payloadIdOf(payload)) throw differs('/body/payload/id', payloadIdOf(payload));
}

/** Replaces the payload of a change. Its id, position and snapshot stay. */
export function editChange(
  request: ChangeRequest,
  changeId: number,
  { payload, segment, snapshot, featureCreatedAt }: CheckedChange,
  actor: Actor,
): ChangeRequestDecision {
  requireAuthor(request, actor.by.id);
  const before = requireChange(request, changeId);
  const replaced = replacedState(before, { snapshot: snapshot ?? null, featureCreatedAt: featureCreatedAt ?? null });
  const change = { ...before, payload: payload ?? {}, segment, ...replaced };
  const changes = request.changes.map((other) => (other === before ? change : other));
  requireContentSize(request.changes, changes);
  return replaceContent(request, changes, [{ kind: 'edited', change, before }], actor);
}

/** Removes a change. Only a draft may become empty: any other request without changes must be cancelled instead. */
export function discardChange(request: ChangeRequest, changeId: number, actor: Actor): ChangeRequestDecision {
  requireAuthor(request, actor.by.id);
  const change = requireChange(request, changeId);
  const remaining = request.changes.filter((other) => other !== change);
  const decision = replaceContent(request, remaining, [{ kind: 'discarded', change }], actor);
  if (remaining.length === 0 && request.state !== 'Draft') {
    const reason = 'A change request must contain at least one change; discard or cancel it instead';
    throw invalidProperty(reason, '/params/changeId');
  }
  return decision;
}

/** Refuses the key `__proto__` at any depth: JavaScript may treat it as the prototype of the object. */
export function refusePrototypeKeys(value: unknown, path: string): void {
  if (typeof value !== 'object' || value === null) return;
  if (Object.hasOwn(value, '__proto__')) {
    throw invalid(`The \`${path}/__proto__\` property is not allowed.`, `${path}/__proto__`);
  }
  for (const [key, member] of Object.entries(value)) {
    if (typeof member === 'object') refusePrototypeKeys(member, `${path}/${key}`);
  }
}

/** Descriptions of the effects of a change that no other change can undo. */
function irreversibleEffects({ action, feature, segment, payload }: ProposedChange): string[] {
  if (action === 'archiveFeature') return [`feature flag ${feature} stays archived until it is revived`];
  if (action === 'updateSegmentList') {
    const { root } = payload as { readonly root?: unknown };
    return [`segment ${segment?.name ?? ''} ${root === null ? 'stays without its list' : 'keeps its new list'}`];
  }
  if (action === 'deleteSegment') return [`segment ${segment?.name ?? ''} stays deleted`];
  return [];
}

/** A text about what the reverting draft cannot undo; undefined if it undoes everything. */
export function unrevertedPart({ changes, id }: ChangeRequest): string | undefined {
  const effects = changes.flatMap(irreversibleEffects);
  return effects.length === 0 ? undefined : `Not undone of change request #${id}: ${effects.join('; ')}`;
}

export function requireRevertible(request: ChangeRequest, inverse: readonly unknown[]): void {
  if (request.state !== 'Applied') throw notAllowedInState('reverted', request);
  if (inverse.length === 0) {
    throw refusal(
      'ConflictError',
      unrevertedPart(request) ?? 'The change request changed nothing that could be undone',
    );
  }
}

/** 409: the caller has a draft in that environment, and a user has one draft per environment. */
export function draftExistsRefusal(): Refusal {
  return refusal('ConflictError', 'You have a draft here already: send it to review or discard it first');
}

/** The identity of a reverting draft, and the comment about what it cannot undo; undefined if it undoes everything. */
interface NewRevert extends Pick<ChangeRequest, 'id' | 'uid' | 'minApprovals'> {
  /** the number of approvals that it needs with its changes */
  readonly neededApprovals: number;
  readonly changeIds: readonly number[];
  readonly comment: NewComment | undefined;
}

/**
 * Creates a draft that undoes an applied request. Its snapshots are the state right after the request was applied, so that later edits
 * are shown as overwrites and never undone unnoticed.
 */
export function createRevertingDraft(
  applied: ChangeRequest,
  inverse: readonly InverseChange[],
  { id, uid, minApprovals, neededApprovals, changeIds, comment }: NewRevert,
  actor: Actor,
): ChangeRequestDecision {
  const { project, environment } = applied;
  const draft = createDraft({ id, uid, project, environment, minApprovals }, actor, neededApprovals);
  const createdAt = actor.now.toISOString();
  const changes = inverse.map(({ change, snapshot, segmentName, featureCreatedAt = null }, nth) => {
    const origin = { id: reservedIdOfNthChange(changeIds, nth), position: nth + 1, createdBy: actor.by, createdAt };
    return { ...toProposedChange(toUncheckedForm(change, segmentName ?? '', snapshot), origin), featureCreatedAt };
  });
  const steps = changes.map((change) => ({ kind: 'added', change }) as const);
  const { request, events } = replaceContent(draft.request, changes, steps, actor);
  const title = `Revert of change request #${applied.id}`;
  return { request: withComment({ ...request, title }, comment, actor), events: [...draft.events, ...events] };
}

function withoutIndex(path: string): string {
  return path.replace(/^\/body\/0(?=\/|$)/, '/body');
}

/** Rewrites the path where the message names it: at its beginning, or after the reason. All other text may be quoted from the request. */
function messageWithoutIndex(message: string, path: string): string {
  const quotedPath = `\`${path}\``;
  const start = 'The ';
  const index = message.startsWith(`${start}${quotedPath}`) ? start.length : message.lastIndexOf(quotedPath);
  return index < 0
    ? message
    : `${message.slice(0, index)}\`${withoutIndex(path)}\`${message.slice(index + quotedPath.length)}`;
}

function detailWithoutIndex({ message, path, ...rest }: ErrorDetail): ErrorDetail {
  return path === undefined
    ? { message, ...rest }
    : { message: messageWithoutIndex(message, path), path: withoutIndex(path), ...rest };
}

/** Rewrites the paths of a refusal from a list with one change to a body that is that change. */
export function withPathsOfSingleChange(error: unknown): unknown {
  if (!(error instanceof Refusal)) return error;
  const path = error.details[0]?.path;
  return refusal(error.kind, path === undefined ? error.message : messageWithoutIndex(error.message, path), {
    ...error.extras,
    details: error.details.map(detailWithoutIndex),
  });
}
