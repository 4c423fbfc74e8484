import type { RequestRoles } from '../../reviews/request-roles.ts';
import { meetsRoleRequirement } from '../../states/state-machine.ts';

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
export const countActionable = (
  counts: readonly ActionableCounts[],
  rolesFor: (counted: ActionableCounts) => RequestRoles,
): number =>
  counts.reduce((total, counted) => {
    const roles = rolesFor(counted);
    const toReview = meetsRoleRequirement(roles, 'approver') ? counted.toReview : 0;
    const toApply = meetsRoleRequirement(roles, 'applier') ? counted.toApply : 0;
    return total + toReview + toApply;
  }, 0);
