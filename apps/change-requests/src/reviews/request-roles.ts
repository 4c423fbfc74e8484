import { adminTokenUserId, type Caller, may, type Permission } from '@bunting/contracts';
import type { EnvironmentRef } from '../requests/change-request.ts';
import { meetsRoleRequirement } from '../states/state-machine.ts';

/** The roles of a user for one request. */
export interface RequestRoles {
  readonly author: boolean;
  /** may cancel and rename requests of others */
  readonly isAdministrator: boolean;
  /** may review as an administrator: an own request only with `CHANGE_REQUESTS_ADMINS_REVIEW_OWN` */
  readonly mayReviewAsAdmin: boolean;
  /** may approve in the environment of the request */
  readonly reviewer: boolean;
  /** may apply in the environment of the request */
  readonly applier: boolean;
  /** a further environment that the request affects and in which the permission is missing; undefined if it is missing in none */
  readonly missing: { readonly approve: string | undefined; readonly apply: string | undefined };
  /** the service itself, for schedules and for reactions to other edits */
  readonly system: boolean;
}

export const noRoles: RequestRoles = {
  author: false,
  isAdministrator: false,
  mayReviewAsAdmin: false,
  reviewer: false,
  applier: false,
  missing: { approve: undefined, apply: undefined },
  system: false,
};

/**
 * Whether these are the roles of an admin token that may not review: every other administrator is a reviewer. It may apply a request, but
 * not reject one, which is a review.
 */
export function isNonReviewingToken({ isAdministrator, reviewer }: RequestRoles): boolean {
  return isAdministrator && !reviewer;
}

/** The roles of the service itself, which runs what users have scheduled. */
export const systemRoles: RequestRoles = { ...noRoles, system: true };

/** A request, or any request of an author in an environment: the id null means every author but the caller. */
interface AuthoredRequest extends EnvironmentRef {
  readonly createdBy: { readonly id: number | null };
  /** the protected environments that it affects; those of approvals and applications must be given */
  readonly affectedEnvironments?: readonly string[];
}

/** Returns the roles of a caller for a request. */
export type RolesOf = (caller: Caller, request: AuthoredRequest) => RequestRoles;

export interface ReviewPolicy {
  /** whether an admin token, which belongs to no user, may approve and reject */
  readonly adminTokens: boolean;
  /** whether administrators may approve and reject their own requests */
  readonly ownOfAdmins: boolean;
}

export function requestRolesByPolicy({ adminTokens, ownOfAdmins }: ReviewPolicy): RolesOf {
  return (caller, { project, environment, createdBy, affectedEnvironments = [] }) => {
    const missingIn = (permission: Permission): string | undefined =>
      affectedEnvironments.find((name) => !may(caller, [permission], { project, environment: name }));
    const where = { project, environment };
    const author = caller.id === createdBy.id;
    const isAdministrator = may(caller, ['ADMIN'], where);
    const reviews = adminTokens || caller.id !== adminTokenUserId;
    return {
      author,
      isAdministrator,
      mayReviewAsAdmin: reviews && (ownOfAdmins || !author) && isAdministrator,
      reviewer: reviews && may(caller, ['APPROVE_CHANGE_REQUEST'], where),
      applier: may(caller, ['APPLY_CHANGE_REQUEST'], where),
      missing: { approve: missingIn('APPROVE_CHANGE_REQUEST'), apply: missingIn('APPLY_CHANGE_REQUEST') },
      system: false,
    };
  };
}

/** The numbers of requests in one environment that wait for a review, and that can be applied. */
export interface ActionableCounts {
  readonly environment: string;
  /** whether these are the requests of the caller, or those of all others */
  readonly own: boolean;
  /** whether their changes affect every environment of the project, or this one only */
  readonly affectsAll: boolean;
  readonly toReview: number;
  readonly toApply: number;
}

/** The number of requests that a caller may review or apply. */
export function countActionable(
  counts: readonly ActionableCounts[],
  rolesFor: (counted: ActionableCounts) => RequestRoles,
): number {
  return counts.reduce((total, counted) => {
    const roles = rolesFor(counted);
    const toReview = meetsRoleRequirement(roles, 'approver') ? counted.toReview : 0;
    const toApply = meetsRoleRequirement(roles, 'applier') ? counted.toApply : 0;
    return total + toReview + toApply;
  }, 0);
}
