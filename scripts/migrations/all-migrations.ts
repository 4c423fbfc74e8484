import type { ServiceName } from '@bunting/contracts';
import type { SchemaMigration } from '@bunting/database';
import { auditMigrations } from '../../apps/audit/src/migrations/index.ts';
import { changeRequestMigrations } from '../../apps/change-requests/src/migrations/index.ts';
import { featuresMigrations } from '../../apps/features/src/migrations/index.ts';
import { gatewayMigrations } from '../../apps/gateway/src/migrations/index.ts';
import { searchMigrations } from '../../apps/search/src/migrations/index.ts';

/** The migrations of each service's database, in the order in which they are applied. */
export const allMigrations: Readonly<Record<ServiceName, readonly SchemaMigration[]>> = {
  features: featuresMigrations,
  'change-requests': changeRequestMigrations,
  audit: auditMigrations,
  search: searchMigrations,
  gateway: gatewayMigrations,
};
