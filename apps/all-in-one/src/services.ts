import { auditService } from '@bunting/audit';
import { changeRequestsService } from '@bunting/change-requests';
import { featuresService } from '@bunting/features';
import { gatewayService } from '@bunting/gateway';
import { integrationsService } from '@bunting/integrations';
import type { AnyService } from '@bunting/runtime';
import { searchService } from '@bunting/search';
import { databaseSettingOf } from './database-setting.ts';

/** Every service, in the order in which they start: the gateway starts last. */
export const services: readonly AnyService[] = [
  featuresService,
  changeRequestsService,
  auditService,
  searchService,
  integrationsService,
  gatewayService,
];

/** Every service with its database, in the same order. */
export const servicesWithDatabaseSettings = services.map((service) => ({
  service,
  ...databaseSettingOf(service.name),
}));
