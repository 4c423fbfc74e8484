import type { ChangeRequest, Actor, ChangeRequestDecision, EnvironmentRef } from '../change-request.ts';
import { eventOf } from '../events.ts';

type Origin = Pick<ChangeRequest, 'id' | 'uid' | 'project' | 'environment' | 'minApprovals'>;

/** Creates an empty draft. */
export const createDraft = (origin: Origin, actor: Actor): ChangeRequestDecision => {
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
