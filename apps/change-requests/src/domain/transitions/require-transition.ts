import { type ChangeRequestState, noAccess, type Permission, type Refusal, refusal } from '@bunting/contracts';
import type { Actor, ChangeRequest } from '../../requests/change-request.ts';
import { approvalsLost, notAllowedInState, transitionNotAllowed, onlyAuthorCan } from '../refusals.ts';
import { isNonReviewingToken, type RequestRoles } from '../../reviews/request-roles.ts';
import {
  checkTransition,
  type CommandName,
  type RoleRequirement,
  type Transition,
} from '../../states/state-machine.ts';

/** The actor with their roles for the request. */
export interface ActorWithRoles extends Actor {
  readonly roles: RequestRoles;
}

const permissionsFor: Readonly<Record<RoleRequirement, readonly Permission[]>> = {
  author: [],
  'author or admin': [],
  reviewer: ['APPROVE_CHANGE_REQUEST'],
  approver: ['APPROVE_CHANGE_REQUEST'],
  'reviewer or applier': ['APPROVE_CHANGE_REQUEST', 'APPLY_CHANGE_REQUEST'],
  'author, reviewer or applier': ['APPROVE_CHANGE_REQUEST', 'APPLY_CHANGE_REQUEST'],
  applier: ['APPLY_CHANGE_REQUEST'],
  system: [],
};

const reviewRequirements: ReadonlySet<RoleRequirement> = new Set([
  'reviewer',
  'approver',
  'reviewer or applier',
  'author, reviewer or applier',
]);

/** The reason why an actor with these roles may not review; undefined if only a permission is missing. */
const reviewDenial = (roles: RequestRoles): string | undefined => {
  const { author, isAdministrator } = roles;
  if (isNonReviewingToken(roles))
    return 'An admin token can not review a change request, because no person stands behind it. Review as a user, or set CHANGE_REQUESTS_ADMIN_TOKENS_REVIEW=true';
  if (author && isAdministrator)
    return 'Authors can not review their own change request, unless they are administrators and CHANGE_REQUESTS_ADMINS_REVIEW_OWN=true';
  return author ? 'Authors can not review their own change request' : undefined;
};

/** The environment in which the permission is missing. */
const placeOfDenial = (required: RoleRequirement, roles: RequestRoles, environment: string): string => {
  if (required === 'approver' && roles.reviewer) return roles.missing.approve ?? environment;
  if (required === 'applier' && roles.applier) return roles.missing.apply ?? environment;
  return environment;
};

const notPermitted = (required: RoleRequirement, roles: RequestRoles, environment: string): Refusal => {
  const denial = reviewRequirements.has(required) ? reviewDenial(roles) : undefined;
  if (denial !== undefined) return refusal('NoAccessError', denial);
  const permissions = permissionsFor[required];
  return permissions.length > 0
    ? noAccess(permissions, placeOfDenial(required, roles, environment))
    : onlyAuthorCan('do this');
};

const factsOf = ({ changes, approvals }: ChangeRequest, command: CommandName, userId: number, minApprovals: number) => {
  const isNew = command === 'approve' && !approvals.some(({ createdBy }) => createdBy.id === userId);
  return { changes: changes.length, approvals: approvals.length + (isNew ? 1 : 0), minApprovals };
};

/** The state to which a command leads, as errors name it. */
const targetOf: Readonly<Record<Exclude<CommandName, 'discard'>, ChangeRequestState>> = {
  'send to review': 'In review',
  approve: 'Approved',
  reject: 'Rejected',
  cancel: 'Cancelled',
  apply: 'Applied',
  run: 'Applied',
  schedule: 'Scheduled',
  fail: 'Scheduled',
  suspend: 'Scheduled',
};

/**
 * The transition of a command from the current state.
 * @param minApprovals the number of approvals that the request needs now
 * @throws Refusal with the reason if the transition does not exist, or if the actor may not take it now.
 */
export const requireTransition = (
  request: ChangeRequest,
  command: CommandName,
  { by, roles }: Pick<ActorWithRoles, 'by' | 'roles'>,
  minApprovals = request.minApprovals,
): Transition => {
  const verdict = checkTransition(request.state, command, roles, factsOf(request, command, by.id, minApprovals));
  switch (verdict.is) {
    case 'allowed':
      return verdict.transition;
    case 'not permitted':
      throw notPermitted(verdict.requiredRole, roles, request.environment);
    case 'not ready':
      throw verdict.guard === 'has changes'
        ? refusal('ConflictError', 'Change request has no changes')
        : approvalsLost();
    case 'no such transition':
      throw command === 'discard'
        ? notAllowedInState('discarded: only a draft can', request)
        : transitionNotAllowed(targetOf[command], request);
  }
};
