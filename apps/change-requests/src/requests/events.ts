import { type EventType, type OutboxEvent, outboxEvent } from '@bunting/contracts';
import type { Actor, Approval, ChangeRequest, ProposedChange } from './change-request.ts';

/** The contents of an event besides the request and the actor. */
export interface EventDetails {
  readonly featureName?: string | null;
  readonly data?: object;
  readonly preData?: object | null;
}

const ofApplication: ReadonlySet<EventType> = new Set([
  'change-request-applied',
  'change-request-scheduled-application-success',
]);

/** An event about a request. Its data always names the request. */
export function eventOf(
  type: EventType,
  { id, project, environment }: Pick<ChangeRequest, 'id' | 'project' | 'environment'>,
  actor: Actor,
  { featureName = null, data = {}, preData = null }: EventDetails = {},
): OutboxEvent {
  return outboxEvent(
    {
      type,
      project,
      environment,
      featureName,
      data: { changeRequestId: id, ...data, ...(actor.via === undefined ? {} : { via: actor.via }) },
      preData,
      // They belong to the events of the changes, which features emits.
      ...(ofApplication.has(type) ? { groupType: 'change-request', groupId: String(id) } : {}),
    },
    actor,
  );
}

/** What a request was before it went to review again: with who had scheduled it, and whose approvals are asked for again. */
export function stateBeforeReview({ state, schedule }: ChangeRequest, removed: readonly Approval[]): object {
  return {
    state,
    ...(schedule === null ? {} : { scheduledBy: schedule.by.id }),
    ...(removed.length === 0 ? {} : { approvedBy: removed.map(({ createdBy }) => createdBy.id) }),
  };
}

/** Identifies a change without its payload. */
function namedChange({ id, action, feature, segment }: ProposedChange) {
  return {
    changeId: id,
    action,
    ...(feature === null ? {} : { feature }),
    ...(segment === null ? {} : { segment }),
  };
}

function wholeChange(change: ProposedChange) {
  return { ...namedChange(change), payload: change.payload };
}

/** One step of an edit of the content. */
export type ContentStep =
  | { readonly kind: 'added'; readonly change: ProposedChange }
  | { readonly kind: 'edited'; readonly change: ProposedChange; readonly before: ProposedChange }
  | { readonly kind: 'discarded'; readonly change: ProposedChange };

/** The event of a step. The events of a draft omit payloads: every user can read events, but only the author may see the draft. */
export function eventOfStep(step: ContentStep, request: ChangeRequest, actor: Actor): OutboxEvent {
  const isPrivate = request.state === 'Draft';
  const detailsOf = isPrivate ? namedChange : wholeChange;
  const featureName = step.change.feature;
  switch (step.kind) {
    case 'added':
      return eventOf('change-added', request, actor, { featureName, data: detailsOf(step.change) });
    case 'edited': {
      const preData = isPrivate ? null : wholeChange(step.before);
      return eventOf('change-edited', request, actor, { featureName, data: detailsOf(step.change), preData });
    }
    case 'discarded': {
      const preData = isPrivate ? null : wholeChange(step.change);
      return eventOf('change-discarded', request, actor, { featureName, data: namedChange(step.change), preData });
    }
  }
}
