import { adminTokenUserId, type Caller } from '@bunting/contracts';
import type { ChangeRequest } from '../../requests/change-request.ts';
import { meetsRoleRequirement } from '../../states/state-machine.ts';
import type { RolesOf } from '../../reviews/request-roles.ts';
import { type Protection, type ReviewRequirement, reviewRequirement } from './review-requirement.ts';
import type { ApprovalFacts } from '../../reviews/approvals.ts';

/** What other services know about requests of a project. */
export interface ReviewFacts {
  /** the environments that are connected to the project */
  readonly connected: ReadonlySet<string>;
  /** the users of approvals with their current permissions; null for those who were deleted or disabled */
  readonly approvers: ReadonlyMap<number, Caller | null>;
}

/** What a request needs now, and which approvals count for it. */
export type Judgement = ReviewRequirement & ApprovalFacts;

/** An admin token belongs to no user whose permissions could be read: whether it may approve is a setting. */
const adminToken: Caller = { id: adminTokenUserId, name: 'admin', grants: [{ permission: 'ADMIN' }] };

/**
 * Judges a request by the protected environments of its project: for its approval, its application and its replies alike. An approver who is not
 * among the facts has approved since they were read, and counts.
 */
export const judgeRequest = (
  request: ChangeRequest,
  protections: readonly Protection[],
  { connected, approvers }: ReviewFacts,
  rolesOf: RolesOf,
): Judgement => {
  const { project, environment, createdBy } = request;
  const requirement = reviewRequirement(
    request,
    protections.filter((protection) => connected.has(protection.environment)),
  );
  const { affectedEnvironments } = requirement;
  const mayApprove = (userId: number): boolean => {
    const caller = userId === adminTokenUserId ? adminToken : approvers.get(userId);
    if (caller === undefined) return true;
    if (caller === null) return false;
    return meetsRoleRequirement(rolesOf(caller, { project, environment, createdBy, affectedEnvironments }), 'approver');
  };
  return { ...requirement, mayApprove };
};

/** The request without the approvals that do not count. */
export const withCountingApprovals = (
  request: ChangeRequest,
  { mayApprove }: Pick<Judgement, 'mayApprove'>,
): ChangeRequest => {
  const approvals = request.approvals.filter(({ createdBy }) => mayApprove(createdBy.id));
  return approvals.length === request.approvals.length ? request : { ...request, approvals };
};
