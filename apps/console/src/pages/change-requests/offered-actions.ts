import type { ChangeRequest, ChangeRequestReview } from '@bunting/contracts';

/** Something that a user can do with a change request as a whole, in contrast to its single changes. */
export type ChangeRequestAction =
  'submit' | 'approve' | 'reject' | 'cancel' | 'apply' | 'schedule' | 'revert' | 'askReviewers' | 'copyLink' | 'rename';

interface OfferedActions {
  /** what the user should do next; undefined where that is up to others */
  readonly primary: ChangeRequestAction | undefined;
  readonly secondary: readonly ChangeRequestAction[];
  /** what is rare, or ends the request */
  readonly inMenu: readonly ChangeRequestAction[];
}

interface Circumstances {
  /** whether the changes could be applied now; undefined while that is not known */
  readonly isApplicable: boolean | undefined;
  /** whether the browser lets the page copy */
  readonly canCopy: boolean;
}

/** The candidates for the primary button by state, the best first, and the actions beside it; every other one is in the menu. */
const prominent: Readonly<
  Record<
    ChangeRequest['state'],
    { readonly first: readonly ChangeRequestAction[]; readonly beside: readonly ChangeRequestAction[] }
  >
> = {
  Draft: { first: ['submit'], beside: ['askReviewers'] },
  'In review': { first: ['approve', 'askReviewers', 'copyLink'], beside: ['reject', 'askReviewers', 'copyLink'] },
  Approved: { first: ['apply', 'copyLink'], beside: ['schedule', 'copyLink'] },
  Scheduled: { first: [], beside: ['schedule', 'apply', 'copyLink'] },
  Applied: { first: [], beside: ['revert', 'copyLink'] },
  Cancelled: { first: [], beside: ['copyLink'] },
  Rejected: { first: [], beside: ['copyLink'] },
};

/** What a user may do with a request, by what the server says of it: nothing is offered that would be refused. */
export function offeredActions(
  { state }: Pick<ChangeRequest, 'state'>,
  { states, reviewers, mayRename, mayRequestReviewers, mayRevert }: ChangeRequestReview,
  { isApplicable, canCopy }: Circumstances,
): OfferedActions {
  const canApply = isApplicable !== false;
  const isOffered: Readonly<Record<ChangeRequestAction, boolean>> = {
    submit: states.includes('In review'),
    // A further approval of an approved request changes nothing.
    approve: state === 'In review' && states.includes('Approved'),
    reject: states.includes('Rejected'),
    cancel: states.includes('Cancelled'),
    apply: canApply && states.includes('Applied'),
    schedule: canApply && states.includes('Scheduled'),
    revert: mayRevert,
    askReviewers: mayRequestReviewers && reviewers.some(({ mayApprove, isRequested }) => mayApprove || isRequested),
    copyLink: canCopy,
    rename: mayRename,
  };
  const { first, beside } = prominent[state];
  const isAsked = reviewers.some(({ isRequested }) => isRequested);
  // Who has asked somebody already waits, and whom it does not concern is asked for nothing.
  const isNext = (action: ChangeRequestAction): boolean =>
    isOffered[action] &&
    (action !== 'askReviewers' || !isAsked) &&
    (action !== 'copyLink' || mayRequestReviewers || states.includes('Cancelled'));
  const primary = first.find(isNext);
  const secondary = beside.filter((action) => action !== primary && isOffered[action]);
  const all = Object.keys(isOffered) as ChangeRequestAction[];
  const inMenu = all.filter((action) => isOffered[action] && action !== primary && !secondary.includes(action));
  return { primary, secondary, inMenu };
}
