import type { ChangeRequestState, EventType } from '@bunting/contracts';

/** What can be done to a request as a whole. What is done to its changes is in content.ts. */
export const commands = [
  'send to review',
  'approve',
  'reject',
  'cancel',
  'apply',
  'schedule',
  'discard',
  'run',
  'fail',
  'suspend',
] as const;
export type Command = (typeof commands)[number];

/** The command that leads to a state, for who asks for the state. Nothing leads back to a draft. */
export const commandFor: Readonly<Record<ChangeRequestState, Command | undefined>> = {
  Draft: undefined,
  'In review': 'send to review',
  Approved: 'approve',
  Applied: 'apply',
  Cancelled: 'cancel',
  Rejected: 'reject',
  Scheduled: 'schedule',
};

/** What somebody is to a request. */
export interface Roles {
  readonly author: boolean;
  readonly admin: boolean;
  /** may approve in the environment of the request */
  readonly reviewer: boolean;
  /** may apply in the environment of the request */
  readonly applier: boolean;
  /** the service itself: the clock, and what follows from other edits */
  readonly system: boolean;
}

/** Who may do something. An author does not judge their own request, unless they are an administrator. */
const may = {
  author: ({ author }: Roles) => author,
  'author or admin': ({ author, admin }: Roles) => author || admin,
  reviewer: ({ author, admin, reviewer }: Roles) => admin || (reviewer && !author),
  'reviewer or applier': ({ author, admin, reviewer, applier }: Roles) => admin || ((reviewer || applier) && !author),
  'author, reviewer or applier': ({ author, admin, reviewer, applier }: Roles) =>
    author || admin || reviewer || applier,
  applier: ({ admin, applier }: Roles) => admin || applier,
  system: ({ system }: Roles) => system,
} as const;
export type Who = keyof typeof may;

/** What decides between two ways that lead on from the same state. */
export interface Facts {
  readonly changes: number;
  /** with the one that is being given */
  readonly approvals: number;
  readonly minApprovals: number;
}

/** What chooses a row (`when`), and what must hold for it (`needs`). */
const guards = {
  'approvals missing': ({ approvals, minApprovals }: Facts) => approvals < minApprovals,
  'approvals suffice': ({ approvals, minApprovals }: Facts) => approvals >= minApprovals,
  'has changes': ({ changes }: Facts) => changes > 0,
} as const;
export type Guard = keyof typeof guards;

export interface Transition {
  readonly from: ChangeRequestState;
  readonly command: Command;
  readonly who: Who;
  readonly when?: Guard;
  readonly needs?: readonly Guard[];
  /** null: the request is deleted */
  readonly to: ChangeRequestState | null;
  readonly tells: readonly EventType[];
}

const approved = ['change-request-approval-added', 'change-request-approved'] as const;
const ran = ['change-request-applied', 'change-request-scheduled-application-success'] as const;
const fit = ['has changes', 'approvals suffice'] as const;

/** Every way that a request can go (change-requests.md 1.3). What is not here is refused. */
export const transitions: readonly Transition[] = (
  [
    ['Draft', 'discard', 'author', {}, null, ['change-request-discarded']],
    ['Draft', 'send to review', 'author', { needs: ['has changes'] }, 'In review', ['change-request-sent-to-review']],
    ['Draft', 'cancel', 'author or admin', {}, 'Cancelled', ['change-request-cancelled']],

    ['In review', 'send to review', 'author', {}, 'In review', []],
    ['In review', 'approve', 'reviewer', { when: 'approvals missing' }, 'In review', ['change-request-approval-added']],
    ['In review', 'approve', 'reviewer', { when: 'approvals suffice', needs: ['has changes'] }, 'Approved', approved],
    ['In review', 'reject', 'reviewer', {}, 'Rejected', ['change-request-rejected']],
    ['In review', 'cancel', 'author or admin', {}, 'Cancelled', ['change-request-cancelled']],

    ['Approved', 'approve', 'reviewer', {}, 'Approved', ['change-request-approval-added']],
    ['Approved', 'reject', 'reviewer or applier', {}, 'Rejected', ['change-request-rejected']],
    ['Approved', 'cancel', 'author or admin', {}, 'Cancelled', ['change-request-cancelled']],
    ['Approved', 'apply', 'applier', { needs: fit }, 'Applied', ['change-request-applied']],
    ['Approved', 'schedule', 'applier', { needs: fit }, 'Scheduled', ['change-request-scheduled']],

    ['Scheduled', 'reject', 'author, reviewer or applier', {}, 'Rejected', ['change-request-rejected']],
    ['Scheduled', 'apply', 'applier', { needs: fit }, 'Applied', ['change-request-applied']],
    ['Scheduled', 'schedule', 'applier', { needs: fit }, 'Scheduled', ['change-request-scheduled']],
    ['Scheduled', 'run', 'system', { needs: fit }, 'Applied', ran],
    ['Scheduled', 'fail', 'system', {}, 'Scheduled', ['change-request-scheduled-application-failure']],
    ['Scheduled', 'suspend', 'system', {}, 'Scheduled', ['change-request-schedule-suspended']],
  ] as const
).map(([from, command, who, guard, to, tells]) => ({ from, command, who, ...guard, to, tells }));

/** What becomes of a command: a way to go, or why there is none. */
export type Verdict =
  | { readonly is: 'allowed'; readonly transition: Transition }
  | { readonly is: 'no such transition' }
  | { readonly is: 'not permitted'; readonly who: Who }
  | { readonly is: 'not ready'; readonly guard: Guard };

/** Judges a command by the table: whether there is a way, then who may take it, then whether all is ready for it. */
export const judge = (from: ChangeRequestState, command: Command, roles: Roles, facts: Facts): Verdict => {
  const transition = transitions.find(
    (row) => row.from === from && row.command === command && (row.when === undefined || guards[row.when](facts)),
  );
  if (transition === undefined) return { is: 'no such transition' };
  if (!may[transition.who](roles)) return { is: 'not permitted', who: transition.who };
  const missing = transition.needs?.find((guard) => !guards[guard](facts));
  return missing === undefined ? { is: 'allowed', transition } : { is: 'not ready', guard: missing };
};
