import { type ChangeRequestState, type EventType, changeRequestStates } from '@bunting/contracts';
import type { ChangeRequest } from '../../requests/change-request.ts';

interface ContentEdit {
  readonly to: ChangeRequestState;
  readonly keepsApprovals: boolean;
  readonly emits?: EventType;
}

/** The effect of a content edit, by state of the request. In every other state edits are refused. */
export const contentEditOfState: Readonly<Partial<Record<ChangeRequestState, ContentEdit>>> = {
  Draft: { to: 'Draft', keepsApprovals: true },
  'In review': { to: 'In review', keepsApprovals: false },
  Approved: { to: 'In review', keepsApprovals: false, emits: 'change-request-sent-to-review' },
};

/** The states of a pending request: changes can be added to it. */
export const pendingStates = changeRequestStates.filter((state) => contentEditOfState[state] !== undefined);

export const isPending = ({ state }: Pick<ChangeRequest, 'state'>): boolean => pendingStates.includes(state);

/** Whether changes can be added to the request now. @param draftOnly whether only a draft counts */
export const acceptsChanges = (
  request: Pick<ChangeRequest, 'state' | 'applying'>,
  { draftOnly }: { readonly draftOnly: boolean },
): boolean => (draftOnly ? request.state === 'Draft' : isPending(request)) && request.applying === null;
