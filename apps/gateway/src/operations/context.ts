import type { Bus } from '@bunting/bus';
import type { AccountCounter } from '../persistence/accounts/account-statistics.ts';
import type { AccessReader } from '../persistence/rights/access-reader.ts';
import type { ProjectHidings } from '../persistence/projects/project-hidings.ts';
import type { UnitOfWork } from '../persistence/unit-of-work.ts';
import type { InstanceInfo } from './instance/instance-info.ts';
import type { ProjectCatalogue } from './project-catalogue.ts';

/** What the gateway's own operations work with. */
export interface GatewayContext {
  readonly bus: Bus;
  readonly transaction: UnitOfWork;
  readonly accessReader: AccessReader;
  readonly catalogue: ProjectCatalogue;
  readonly hidings: ProjectHidings;
  /** drops the cached callers */
  readonly invalidateTokenCache: () => void;
  readonly instance: InstanceInfo;
  readonly countAccounts: AccountCounter;
}
