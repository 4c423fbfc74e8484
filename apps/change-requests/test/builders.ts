import type { CheckedChange } from '@bunting/contracts';
import type { Actor, ChangeRequest, ProposedChange } from '../src/requests/change-request.ts';

export const mia = { id: 7, name: 'mia@bunting.example' };
export const lee = { id: 8, name: 'lee' };
export const kim = { id: 9, name: 'kim' };

export const noon = '2026-11-21T12:00:00.000Z';

/** Mia, an hour after everything that the builders make. */
export const miaNow: Actor = { by: mia, now: new Date('2026-11-21T13:00:00.000Z') };

/** A change as the features service hands it back: of the feature `checkout`, unless a segment or another feature is given. */
export function aCheckedChange(change: Partial<CheckedChange> & Pick<CheckedChange, 'action'>): CheckedChange {
  return {
    feature: change.segment === undefined ? 'checkout' : null,
    segment: null,
    payload: {},
    snapshot: null,
    ...change,
  };
}

/** A change within a request, with the position of its id. */
export function aChange({
  id = 1,
  ...change
}: Partial<ProposedChange> & Pick<ProposedChange, 'action'>): ProposedChange {
  return {
    id,
    position: id,
    feature: change.segment === undefined ? 'checkout' : null,
    segment: null,
    payload: {},
    snapshot: null,
    featureCreatedAt: null,
    createdBy: mia,
    createdAt: noon,
    ...change,
  };
}

/** Mia's draft of noon, for production in the shop. */
export function aRequest(request: Partial<ChangeRequest> = {}): ChangeRequest {
  return {
    id: 31,
    project: 'shop',
    environment: 'production',
    title: null,
    state: 'Draft',
    minApprovals: 1,
    createdBy: mia,
    createdAt: noon,
    revision: 3,
    stateTimestamps: { Draft: noon },
    changes: [],
    approvals: [],
    rejections: [],
    comments: [],
    schedule: null,
    applying: null,
    uid: null,
    attempts: 0,
    requestedApprovers: [],
    reviewRequests: [],
    steps: [],
    ...request,
  };
}

export function anApprovalBy(createdBy: { id: number; name: string }) {
  return { createdBy, createdAt: noon, basis: null };
}
