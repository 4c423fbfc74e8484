import { type Change, type CheckedChange, invalid, invalidProperty, notFound } from '@bunting/contracts';
import type { Actor, ChangeRequest, Decision, ProposedChange } from '../change-request.ts';
import { onlyAuthorCan } from '../refusals.ts';
import { editContent } from './edit-content.ts';
import { idIn } from './proposed-change.ts';

/** @throws Refusal `NoAccessError` unless the user is the author of the request. */
export const requireAuthor = ({ createdBy }: ChangeRequest, userId: number): void => {
  if (createdBy.id !== userId) throw onlyAuthorCan('edit its changes');
};

export const changeOf = ({ changes, id }: ChangeRequest, changeId: number): ProposedChange => {
  const change = changes.find((other) => other.id === changeId);
  if (change === undefined) throw notFound(`Could not find change with id ${changeId} in change request ${id}`);
  return change;
};

/** Refuses to change the action or the subject of a change: they are its identity. */
export const requireSameSubject = (before: ProposedChange, change: Change): void => {
  const differs = (path: string, was: unknown) =>
    invalid(`The \`${path}\` property must stay what it was: ${JSON.stringify(was)}.`, path);
  if (change.action !== before.action) throw differs('/body/action', before.action);
  if (before.feature !== null && change.feature !== before.feature) throw differs('/body/feature', before.feature);
  const { payload } = before;
  if (idIn(change.payload) !== idIn(payload)) throw differs('/body/payload/id', idIn(payload));
};

/** Replaces the payload of a change. Its id, position and snapshot stay. */
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

/** Removes a change. Only a draft may become empty: any other request without changes must be cancelled instead. */
export const discardChange = (request: ChangeRequest, changeId: number, actor: Actor): Decision => {
  requireAuthor(request, actor.by.id);
  const change = changeOf(request, changeId);
  const left = request.changes.filter((other) => other !== change);
  const decision = editContent(request, left, [{ kind: 'discarded', change }], actor);
  if (left.length === 0 && request.state !== 'Draft') {
    const reason = 'A change request must contain at least one change; discard or cancel it instead';
    throw invalidProperty(reason, '/params/changeId');
  }
  return decision;
};
