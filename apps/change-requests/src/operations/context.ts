import type { Bus } from '@bunting/bus';
import type { NewChangeIds } from '../persistence/reserve-change-ids.ts';
import type { ChangeRequestReader } from '../persistence/change-request-reader.ts';
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts';
import type { Apply } from './state/apply-request.ts';
import type { RolesOf } from '../reviews/request-roles.ts';
import type { RecheckApprovals } from '../reviews/endpoints.ts';
import type { SyncProtection } from './configuration/protection-sync.ts';

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
