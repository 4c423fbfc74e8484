import type { Bus } from '@bunting/bus';
import type { Readers } from '../persistence/readers.ts';
import type { UnitOfWork } from '../persistence/unit-of-work.ts';
import { type Deliveries, deliveriesOf } from './delivery/deliveries.ts';
import { type Evaluations, evaluationsOf } from './delivery/evaluations.ts';
import { type HandOver, handingOver } from './features/import-proposal.ts';
import { type Hide, hidingProjects } from './projects/hide-project.ts';
import { keepingReports, type KeepReport, type ListingLimits } from './usage/report.ts';

/** What the operations of the service work with: writes go through the unit of work, reads past it. */
export interface FeaturesContext extends Readers {
  readonly work: UnitOfWork;
  /** where the change requests service, the gateway and the event log are called */
  readonly bus: Bus;
  readonly hideProject: Hide;
  readonly handOver: HandOver;
  readonly keepReport: KeepReport;
  readonly deliveries: Deliveries;
  readonly evaluations: Evaluations;
  /** the maximum length of the list of applications */
  readonly applicationsLimit: number;
  /** the maximum number of active features; undefined when there is none */
  readonly featureLimit: number | undefined;
}

interface ContextOptions {
  readonly work: UnitOfWork;
  readonly bus: Bus;
  readonly readers: Readers;
  /** what bounds the list of applications */
  readonly limits: ListingLimits;
  readonly featureLimit?: number | undefined;
  /** the maximum number of characters of cached responses to SDKs */
  readonly deliveryCacheCharacters?: number;
}

export const featuresContext = ({
  work,
  bus,
  readers,
  limits,
  featureLimit,
  deliveryCacheCharacters = 64 * 1024 * 1024,
}: ContextOptions): FeaturesContext => {
  const deliveries = deliveriesOf(readers.clients, deliveryCacheCharacters);
  return {
    ...readers,
    ...{ work, bus, deliveries, featureLimit },
    evaluations: evaluationsOf(deliveries),
    hideProject: hidingProjects(bus),
    handOver: handingOver(bus, work),
    keepReport: keepingReports(work, limits),
    applicationsLimit: limits.limit,
  };
};
