import type { Bus, Endpoint } from '@bunting/bus';
import { previewEndpoints } from './previews/endpoints.ts';
import { proposalEndpoints } from './proposals/endpoints.ts';
import { protectionEndpoints, type SyncProtection } from './protection/endpoints.ts';
import { requestEndpoints } from './requests/endpoints.ts';
import type { ChangeRequestReader } from './requests/request-read-store.ts';
import type { NewChangeIds } from './requests/request-store.ts';
import { type RecheckApprovals, reviewEndpoints } from './reviews/endpoints.ts';
import type { RolesOf } from './reviews/request-roles.ts';
import { type Apply, stateEndpoints } from './states/endpoints.ts';
import type { UnitOfWork } from './unit-of-work/unit-of-work.ts';
/** The dependencies of the operations. */
export interface ChangeRequestsContext {
  readonly bus: Bus;
  readonly reader: ChangeRequestReader;
  readonly newChangeIds: NewChangeIds;
  readonly transaction: UnitOfWork;
  readonly rolesOf: RolesOf;
  /** whether change requests may be created in unprotected environments */
  readonly allowsVoluntaryRequests: boolean;
  readonly apply: Apply;
  readonly recheckApprovals: RecheckApprovals;
  readonly syncProtection: SyncProtection;
}

/** Every endpoint of the service. */
export function changeRequestsEndpoints(context: ChangeRequestsContext): readonly Endpoint[] {
  return [
    ...requestEndpoints(context),
    ...proposalEndpoints(context),
    ...previewEndpoints(context),
    ...reviewEndpoints(context),
    ...stateEndpoints(context),
    ...protectionEndpoints(context),
  ];
}
