import type { Bus } from '@bunting/bus';
import type { ChangeRequestReader } from '../persistence/change-request-repository.ts';
import type { UnitOfWork } from '../persistence/unit-of-work.ts';
import type { Apply } from './apply.ts';
import type { RolesOf } from './roles.ts';
import type { SyncProtection } from './sync-protection.ts';

/** What the operations of the service work with. */
export interface ChangeRequestsContext {
  readonly bus: Bus;
  readonly reader: ChangeRequestReader;
  readonly work: UnitOfWork;
  readonly rolesOf: RolesOf;
  /** whether changes may be proposed where none is needed */
  readonly isVoluntary: boolean;
  readonly apply: Apply;
  readonly tellProtection: SyncProtection;
}
