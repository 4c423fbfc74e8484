import type { Bus } from '@bunting/bus';
import type { Readers } from '../persistence/readers.ts';
import type { UnitOfWork } from '../persistence/unit-of-work.ts';
import { clientFeaturesCache } from './delivery/client-features-cache.ts';
import { submitImportProposal } from './import-export/import-proposal.ts';
import { hideProjectAtGateway } from './projects/hide-project.ts';
import type { ApplicationLimits } from './usage/application-limits.ts';
import { storeReports } from './usage/store-report.ts';

interface ContextOptions {
  readonly transaction: UnitOfWork;
  readonly bus: Bus;
  readonly readers: Readers;
  readonly limits: ApplicationLimits;
  /** the maximum number of active features; undefined for no limit */
  readonly featureLimit?: number | undefined;
  /** the maximum number of characters of cached responses to SDKs */
  readonly cacheCharacters?: number;
}

/** What the operations of the service work with: writes go through the unit of work, reads through the readers. */
export const featuresContext = ({
  transaction,
  bus,
  readers,
  limits,
  featureLimit,
  cacheCharacters = 64 * 1024 * 1024,
}: ContextOptions) => {
  const clientFeatures = clientFeaturesCache(readers.clientFeatures, cacheCharacters);
  return {
    ...readers,
    ...{ transaction, bus, featureLimit },
    clientFeaturesCache: clientFeatures,
    hideProjectAtGateway: hideProjectAtGateway(bus),
    submitImportProposal: submitImportProposal(bus, transaction),
    storeReport: storeReports(transaction, limits),
    /** the maximum length of the list of applications */
    applicationsLimit: limits.limit,
  };
};
export type FeaturesContext = ReturnType<typeof featuresContext>;
