import type { ChangeRequestState, EventType } from '@bunting/contracts';
import { isNonReviewingToken, type RequestRoles } from '../reviews/request-roles.ts';

/** The commands on a request as a whole. For edits of its changes see content/replace-content.ts. */
export const commandNames = [
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
export type CommandName = (typeof commandNames)[number];

/** The command for a requested target state. No command leads back to a draft. */
export const commandFor = {
  Draft: undefined,
  'In review': 'send to review',
  Approved: 'approve',
  Applied: 'apply',
  Cancelled: 'cancel',
  Rejected: 'reject',
  Scheduled: 'schedule',
} as const satisfies Readonly<Record<ChangeRequestState, CommandName | undefined>>;

function isReviewerOrApplier(roles: RequestRoles): boolean {
  return roles.reviewer || (roles.applier && !isNonReviewingToken(roles));
}

/**
 * Which roles may take a transition. Approving and applying takes the permission in every environment that the request affects. Authors
 * do not review their own requests, except administrators whom the setting allows it.
 */
const roleRequirements = {
  author: ({ author }: RequestRoles) => author,
  'author or admin': ({ author, isAdministrator }: RequestRoles) => author || isAdministrator,
  reviewer: ({ author, mayReviewAsAdmin, reviewer }: RequestRoles) => mayReviewAsAdmin || (reviewer && !author),
  approver: ({ author, mayReviewAsAdmin, reviewer, missing }: RequestRoles) =>
    mayReviewAsAdmin || (reviewer && !author && missing.approve === undefined),
  'reviewer or applier': (roles: RequestRoles) =>
    roles.mayReviewAsAdmin || (isReviewerOrApplier(roles) && !roles.author),
  'author, reviewer or applier': (roles: RequestRoles) =>
    roles.author || roles.mayReviewAsAdmin || isReviewerOrApplier(roles),
  applier: ({ mayReviewAsAdmin, applier, missing }: RequestRoles) =>
    mayReviewAsAdmin || (applier && missing.apply === undefined),
  system: ({ system }: RequestRoles) => system,
} as const;
export type RoleRequirement = keyof typeof roleRequirements;

/** Whether a user with these roles meets a requirement. */
export function meetsRoleRequirement(roles: RequestRoles, required: RoleRequirement): boolean {
  return roleRequirements[required](roles);
}

/** The facts that guards check. */
export interface GuardInput {
  readonly changes: number;
  /** including the one being added */
  readonly approvals: number;
  readonly minApprovals: number;
}

const guards = {
  'approvals missing': ({ approvals, minApprovals }: GuardInput) => approvals < minApprovals,
  'approvals suffice': ({ approvals, minApprovals }: GuardInput) => approvals >= minApprovals,
  'has changes': ({ changes }: GuardInput) => changes > 0,
} as const;

export interface Transition {
  readonly from: ChangeRequestState;
  readonly command: CommandName;
  readonly requiredRole: RoleRequirement;
  /** selects one of several transitions of a command */
  readonly when?: 'approvals missing' | 'approvals suffice';
  /** what must hold, or else the command is refused */
  readonly needs?: readonly ('has changes' | 'approvals suffice')[];
  /** null: the request is deleted */
  readonly to: ChangeRequestState | null;
  readonly emits: readonly TransitionEvent[];
}

const approvalEvents = ['change-request-approval-added', 'change-request-approved'] as const;
const runEvents = ['change-request-applied', 'change-request-scheduled-application-success'] as const;
const readyGuards = ['has changes', 'approvals suffice'] as const;

const rows = [
  ['Draft', 'discard', 'author', {}, null, ['change-request-discarded']],
  ['Draft', 'send to review', 'author', { needs: ['has changes'] }, 'In review', ['change-request-sent-to-review']],
  ['Draft', 'cancel', 'author or admin', {}, 'Cancelled', ['change-request-cancelled']],

  ['In review', 'send to review', 'author', {}, 'In review', []],
  ['In review', 'approve', 'approver', { when: 'approvals missing' }, 'In review', ['change-request-approval-added']],
  [
    'In review',
    'approve',
    'approver',
    { when: 'approvals suffice', needs: ['has changes'] },
    'Approved',
    approvalEvents,
  ],
  ['In review', 'reject', 'reviewer', {}, 'Rejected', ['change-request-rejected']],
  ['In review', 'cancel', 'author or admin', {}, 'Cancelled', ['change-request-cancelled']],

  ['Approved', 'approve', 'approver', {}, 'Approved', ['change-request-approval-added']],
  ['Approved', 'reject', 'reviewer or applier', {}, 'Rejected', ['change-request-rejected']],
  ['Approved', 'cancel', 'author or admin', {}, 'Cancelled', ['change-request-cancelled']],
  ['Approved', 'apply', 'applier', { needs: readyGuards }, 'Applied', ['change-request-applied']],
  ['Approved', 'schedule', 'applier', { needs: readyGuards }, 'Scheduled', ['change-request-scheduled']],

  ['Scheduled', 'reject', 'author, reviewer or applier', {}, 'Rejected', ['change-request-rejected']],
  ['Scheduled', 'apply', 'applier', { needs: readyGuards }, 'Applied', ['change-request-applied']],
  ['Scheduled', 'schedule', 'applier', { needs: readyGuards }, 'Scheduled', ['change-request-scheduled']],
  ['Scheduled', 'run', 'system', { needs: readyGuards }, 'Applied', runEvents],
  ['Scheduled', 'fail', 'system', {}, 'Scheduled', ['change-request-scheduled-application-failure']],
  ['Scheduled', 'suspend', 'system', {}, 'Scheduled', ['change-request-schedule-suspended']],
] as const;

/** The events that transitions emit. */
export type TransitionEvent = Extract<EventType, (typeof rows)[number][5][number]>;

/** Every allowed transition of a change request. Any other is refused. */
export const transitions: readonly Transition[] = rows.map(([from, command, requiredRole, guard, to, emits]) => ({
  from,
  command,
  requiredRole,
  ...guard,
  to,
  emits,
}));

function statesWithTransition(isWanted: (transition: Transition) => boolean): readonly ChangeRequestState[] {
  return [...new Set(transitions.filter(isWanted).map(({ from }) => from))];
}

/** The states in which a request waits for approvals. */
export const statesToReview = statesWithTransition(
  ({ command, when }) => command === 'approve' && when === 'approvals missing',
);

/** The states in which a request can be applied. */
export const statesToApply = statesWithTransition(({ command }) => command === 'apply');

/** The transition of a command, or the reason why it is not allowed. */
export type Verdict =
  | { readonly is: 'allowed'; readonly transition: Transition }
  | { readonly is: 'no such transition' }
  | { readonly is: 'not permitted'; readonly requiredRole: RoleRequirement }
  | { readonly is: 'not ready'; readonly guard: NonNullable<Transition['needs']>[number] };

/** Checks a command against the table: first that the transition exists, then the roles, then the guards. */
export function checkTransition(
  from: ChangeRequestState,
  command: CommandName,
  roles: RequestRoles,
  facts: GuardInput,
): Verdict {
  const transition = transitions.find(
    (row) => row.from === from && row.command === command && (row.when === undefined || guards[row.when](facts)),
  );
  if (transition === undefined) return { is: 'no such transition' };
  const { requiredRole } = transition;
  if (!meetsRoleRequirement(roles, requiredRole)) return { is: 'not permitted', requiredRole };
  const missing = transition.needs?.find((need) => !guards[need](facts));
  return missing === undefined ? { is: 'allowed', transition } : { is: 'not ready', guard: missing };
}
