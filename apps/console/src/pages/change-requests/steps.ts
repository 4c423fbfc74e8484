import type { ChangeRequestState } from '@bunting/contracts';

/** Something that can be done with a change request as a whole. */
export interface Step {
  readonly id: 'submit' | 'approve' | 'reject' | 'cancel' | 'apply' | 'schedule' | 'revert';
  /** the state that the request goes to; none for a step that makes another request */
  readonly state?: ChangeRequestState;
  readonly key?: string;
  readonly isDangerous?: true;
}

const submit: Step = { id: 'submit', state: 'In review' };
const approve: Step = { id: 'approve', state: 'Approved', key: 'a' };
const reject: Step = { id: 'reject', state: 'Rejected', key: 'r', isDangerous: true };
const cancel: Step = { id: 'cancel', state: 'Cancelled', isDangerous: true };
const apply: Step = { id: 'apply', state: 'Applied' };
const schedule: Step = { id: 'schedule', state: 'Scheduled' };
const revert: Step = { id: 'revert' };

/**
 * The steps that the state of a change request allows, the likeliest first. Authors do not review what they have proposed; the server
 * decides, and says what is missing.
 */
export const stepsOf = (state: ChangeRequestState, isAuthor: boolean): readonly Step[] => {
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

/** Whether nothing more can change what the request proposes. */
export const isClosed = (state: ChangeRequestState): boolean =>
  state === 'Applied' || state === 'Cancelled' || state === 'Rejected';
