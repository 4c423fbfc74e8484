import { adminTokenUserId, type Caller, may } from '@bunting/contracts';
import type { ChangeRequest } from '../domain/change-request.ts';
import type { RequestRoles } from '../domain/review/state-machine.ts';

/** Returns the roles of a caller for a request. */
export type RolesOf = (
  caller: Caller,
  request: Pick<ChangeRequest, 'project' | 'environment' | 'createdBy'>,
) => RequestRoles;

export interface ReviewPolicy {
  /** whether an admin token, which belongs to no user, may approve and reject */
  readonly adminTokens: boolean;
  /** whether administrators may approve and reject their own requests */
  readonly ownOfAdmins: boolean;
}

export const rolesByPolicy =
  ({ adminTokens, ownOfAdmins }: ReviewPolicy): RolesOf =>
  (caller, { project, environment, createdBy }) => {
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
      system: false,
    };
  };
