import { invalidProperty } from '@bunting/contracts';
import type { ChangeRequest, Actor, ChangeRequestDecision } from '../../requests/change-request.ts';
import { requireAuthor, requireChange } from './edit-change.ts';
import { replaceContent } from '../../proposals/content.ts';

/** Removes a change. Only a draft may become empty: any other request without changes must be cancelled instead. */
export const discardChange = (request: ChangeRequest, changeId: number, actor: Actor): ChangeRequestDecision => {
  requireAuthor(request, actor.by.id);
  const change = requireChange(request, changeId);
  const remaining = request.changes.filter((other) => other !== change);
  const decision = replaceContent(request, remaining, [{ kind: 'discarded', change }], actor);
  if (remaining.length === 0 && request.state !== 'Draft') {
    const reason = 'A change request must contain at least one change; discard or cancel it instead';
    throw invalidProperty(reason, '/params/changeId');
  }
  return decision;
};
