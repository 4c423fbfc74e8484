import type { CheckedChange } from '@bunting/contracts';
import {
  type Actor,
  type ChangeRequest,
  type ChangeRequestDecision,
  withoutEvents,
} from '../../requests/change-request.ts';
import { replaceContent } from '../../proposals/content.ts';
import type { ContentStep } from '../../requests/events.ts';
import { mergeChange } from '../../proposals/merge-change.ts';
import { requireContentSize } from './require-content-size.ts';
import { reservedIdOfNthChange, toProposedChange } from './proposed-change.ts';

/** Adds changes to a request in their order. Returns the same request and no events if it already contains all of them. */
export const addChanges = (
  request: ChangeRequest,
  checked: readonly CheckedChange[],
  ids: readonly number[],
  actor: Actor,
): ChangeRequestDecision => {
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
};
