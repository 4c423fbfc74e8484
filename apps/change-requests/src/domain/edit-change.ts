import { type Change, type CheckedChange, invalid, notFound, refusal } from '@bunting/contracts';
import type { Actor, ChangeRequest, Decision, ProposedChange } from './change-request.ts';
import { editContent, isClosed, requireAtRest } from './content.ts';

/** Only its author edits the content of a request. */
export const requireAuthor = ({ createdBy }: ChangeRequest, userId: number): void => {
  if (createdBy.id !== userId) {
    throw refusal('NoAccessError', 'Only the author of a change request can edit its changes');
  }
};

export const changeOf = ({ changes, id }: ChangeRequest, changeId: number): ProposedChange => {
  const change = changes.find((other) => other.id === changeId);
  if (change === undefined) throw notFound(`Could not find change with id ${changeId} in change request ${id}`);
  return change;
};

const idIn = (payload: unknown): unknown =>
  typeof payload === 'object' && payload !== null && 'id' in payload ? payload.id : undefined;

/** Refuses to make something else of a change: what it does, and to what, is its identity. */
export const requireSameSubject = (before: ProposedChange, change: Change): void => {
  const differs = (path: string, was: unknown) =>
    invalid(`The \`${path}\` property must stay what it was: ${JSON.stringify(was)}.`, path);
  if (change.action !== before.action) throw differs('/body/action', before.action);
  if (before.feature !== null && change.feature !== before.feature) throw differs('/body/feature', before.feature);
  const { payload } = before;
  if (idIn(change.payload) !== idIn(payload)) throw differs('/body/payload/id', idIn(payload));
};

/** Puts another payload in the place of a change. Its id, its place and what it was to replace stay. */
export const editChange = (
  request: ChangeRequest,
  changeId: number,
  { payload, segment, snapshot }: CheckedChange,
  actor: Actor,
): Decision => {
  requireAuthor(request, actor.by.id);
  const before = changeOf(request, changeId);
  const change = { ...before, payload: payload ?? {}, segment, snapshot: before.snapshot ?? snapshot ?? null };
  const changes = request.changes.map((other) => (other === before ? change : other));
  return editContent(request, changes, [{ kind: 'edited', change, before }], actor);
};

/** Takes a change out. Only a draft may end up empty: anything else that is empty should be cancelled. */
export const discardChange = (request: ChangeRequest, changeId: number, actor: Actor): Decision => {
  requireAuthor(request, actor.by.id);
  const change = changeOf(request, changeId);
  const left = request.changes.filter((other) => other !== change);
  const decision = editContent(request, left, [{ kind: 'discarded', change }], actor);
  if (left.length === 0 && request.state !== 'Draft') {
    const path = '/params/changeId';
    const message = 'A change request must contain at least one change; discard or cancel it instead';
    throw invalid(`${message}: see the \`${path}\` property.`, path);
  }
  return decision;
};

/** Gives a request another name. */
export const rename = (request: ChangeRequest, title: string, userId: number, isAdmin: boolean): ChangeRequest => {
  if (request.createdBy.id !== userId && !isAdmin) {
    throw refusal('NoAccessError', 'Only the author of a change request can rename it');
  }
  requireAtRest(request);
  if (isClosed(request)) {
    throw refusal('ConflictError', `A change request in state "${request.state}" cannot be renamed`);
  }
  return { ...request, title: requireText(title, 255, '/body/title') };
};

/** Text without the space around it, which must be some and not too much. */
export const requireText = (text: string, most: number, path: string): string => {
  const trimmed = text.trim();
  if (trimmed === '') throw invalid(`The \`${path}\` property is not allowed to be empty.`, path);
  if ([...trimmed].length > most) {
    throw invalid(`The \`${path}\` property must be at most ${most} characters long.`, path);
  }
  return trimmed;
};
