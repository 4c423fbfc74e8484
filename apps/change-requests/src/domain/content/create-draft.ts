import type { ChangeRequest, Actor, ChangeRequestDecision, EnvironmentRef } from '../../requests/change-request.ts';
import { eventOf } from '../../requests/events.ts';

type Origin = Pick<ChangeRequest, 'id' | 'uid' | 'project' | 'environment' | 'minApprovals'>;

/**
 * Creates an empty draft.
 * @param neededApprovals the number of approvals that it needs with the changes that it is created for
 */
export const createDraft = (
  origin: Origin,
  actor: Actor,
  neededApprovals = origin.minApprovals,
): ChangeRequestDecision => {
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
  const data = { minApprovals: neededApprovals };
  return { request, events: [eventOf('change-request-created', request, actor, { data })] };
};

/** An empty draft to compute a preview with, which is not stored. */
export const unsavedDraft = (environmentRef: EnvironmentRef, actor: Actor): ChangeRequest =>
  createDraft({ id: 0, uid: null, ...environmentRef, minApprovals: 1 }, actor).request;
