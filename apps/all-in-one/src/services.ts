import { auditService } from '@bunting/audit';
import { changeRequestsService } from '@bunting/change-requests';
import { featuresService } from '@bunting/features';
import { gatewayService } from '@bunting/gateway';
import type { AnyService } from '@bunting/runtime';
import { searchService } from '@bunting/search';

/** Every service, in the order in which they start: the gateway starts last. */
export const services: readonly AnyService[] = [
  featuresService,
  changeRequestsService,
  auditService,
  searchService,
  gatewayService,
];

/** The setting that holds the address of each service's database, and what the database is called. */
export const databases = services.map(({ name }) => ({
  setting: `${name.toUpperCase().replaceAll('-', '_')}_DATABASE_URL`,
  database: `bunting_${name.replaceAll('-', '_')}`,
}));
