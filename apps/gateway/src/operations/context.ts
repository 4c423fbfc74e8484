import type { Bus } from '@bunting/bus';
import type { Authenticator } from '../authentication/authenticate.ts';
import type { countAccounts } from '../persistence/accounts/account-statistics.ts';
import type { AccessReader } from '../persistence/rights/access-reader.ts';
import type { ProjectHidings } from '../persistence/projects/project-hidings.ts';
import type { UnitOfWork } from '../persistence/unit-of-work.ts';
import type { InstanceInfo } from './instance/instance-info.ts';
import type { ProjectCatalogue } from './project-catalogue.ts';

/** The dependencies of the gateway's own operations. */
export interface GatewayContext {
  readonly bus: Bus;
  readonly identify: Authenticator['identify'];
  readonly transaction: UnitOfWork;
  readonly accessReader: AccessReader;
  readonly catalogue: ProjectCatalogue;
  readonly hidings: ProjectHidings;
  /** drops the cached principals of this process */
  readonly invalidateTokenCache: () => void;
  readonly instance: InstanceInfo;
  readonly countAccounts: () => ReturnType<typeof countAccounts>;
}
