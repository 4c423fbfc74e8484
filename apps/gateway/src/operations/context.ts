import type { Bus } from '@bunting/bus';
import type { AccountCounter } from '../persistence/accounts/account-statistics.ts';
import type { AccessReader } from '../persistence/rights/access-reader.ts';
import type { ProjectHidings } from '../persistence/projects/project-hidings.ts';
import type { UnitOfWork } from '../persistence/unit-of-work.ts';
import type { Instance } from './instance/instance.ts';
import type { PlacesKnown } from './project-catalogue.ts';

/** What the gateway's own operations work with. */
export interface GatewayContext {
  readonly bus: Bus;
  readonly work: UnitOfWork;
  readonly access: AccessReader;
  readonly places: PlacesKnown;
  readonly hidings: ProjectHidings;
  /** drops the cached callers */
  readonly forget: () => void;
  readonly instance: Instance;
  readonly countAccounts: AccountCounter;
}
