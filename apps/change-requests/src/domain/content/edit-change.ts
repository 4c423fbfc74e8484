import { type Change, type CheckedChange, invalid, notFound } from '@bunting/contracts';
import type { Actor, ChangeRequest, ChangeRequestDecision, ProposedChange } from '../../requests/change-request.ts';
import { onlyAuthorCan } from '../refusals.ts';
import { requireContentSize } from './require-content-size.ts';
import { replaceContent } from '../../proposals/content.ts';
import { payloadIdOf } from '../../proposals/proposed-change.ts';

/** @throws Refusal `NoAccessError` unless the user is the author of the request. */
export const requireAuthor = ({ createdBy }: ChangeRequest, userId: number): void => {
  if (createdBy.id !== userId) throw onlyAuthorCan('edit its changes');
};

export const requireChange = ({ changes, id }: ChangeRequest, changeId: number): ProposedChange => {
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
  if (payloadIdOf(change.payload) !== payloadIdOf(payload)) throw differs('/body/payload/id', payloadIdOf(payload));
};

/** Replaces the payload of a change. Its id, position and snapshot stay. */
export const editChange = (
  request: ChangeRequest,
  changeId: number,
  { payload, segment, snapshot }: CheckedChange,
  actor: Actor,
): ChangeRequestDecision => {
  requireAuthor(request, actor.by.id);
  const before = requireChange(request, changeId);
  const change = { ...before, payload: payload ?? {}, segment, snapshot: before.snapshot ?? snapshot ?? null };
  const changes = request.changes.map((other) => (other === before ? change : other));
  requireContentSize(request.changes, changes);
  return replaceContent(request, changes, [{ kind: 'edited', change, before }], actor);
};
