import type { ChangeRequestState } from '@bunting/contracts';

/** An action on a whole change request, in contrast to its single changes. */
export interface ChangeRequestAction {
  readonly id: 'submit' | 'approve' | 'reject' | 'cancel' | 'apply' | 'schedule' | 'revert';
  /** the next state of the request; undefined for an action that creates another request */
  readonly state?: ChangeRequestState;
  /** the shortcut on the page of the request */
  readonly key?: string;
  readonly isDangerous?: true;
}

const submit: ChangeRequestAction = { id: 'submit', state: 'In review' };
const approve: ChangeRequestAction = { id: 'approve', state: 'Approved', key: 'a' };
const reject: ChangeRequestAction = { id: 'reject', state: 'Rejected', key: 'r', isDangerous: true };
const cancel: ChangeRequestAction = { id: 'cancel', state: 'Cancelled', isDangerous: true };
const apply: ChangeRequestAction = { id: 'apply', state: 'Applied' };
const schedule: ChangeRequestAction = { id: 'schedule', state: 'Scheduled' };
const revert: ChangeRequestAction = { id: 'revert' };

/**
 * The actions that the state of a change request allows, the likeliest first. The server checks permissions and whether
 * authors may review their own request; it explains a refusal.
 */
export const changeRequestActionsByState = (
  state: ChangeRequestState,
  isAuthor: boolean,
): readonly ChangeRequestAction[] => {
  switch (state) {
    case 'Draft':
      return isAuthor ? [submit, cancel] : [];
    case 'In review':
      return isAuthor ? [cancel, approve, reject] : [approve, reject];
    case 'Approved':
      return isAuthor ? [apply, schedule, cancel] : [apply, schedule, reject];
    case 'Scheduled':
      return isAuthor ? [apply, schedule, cancel] : [apply, schedule, reject];
    case 'Applied':
      return [revert];
    case 'Cancelled':
    case 'Rejected':
      return [];
  }
};
