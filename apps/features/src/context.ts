import type { Bus } from '@bunting/bus';
import type { Caller } from '@bunting/contracts';
import { submitImportProposal } from './import-export/endpoints.ts';
import type { Readers } from './unit-of-work/readers.ts';
import type { UnitOfWork } from './unit-of-work/unit-of-work.ts';
import { type ApplicationBudget, storeReport } from './usage/endpoints.ts';

interface ContextOptions {
  readonly transaction: UnitOfWork;
  readonly bus: Bus;
  readonly readers: Readers;
  readonly applicationBudget: ApplicationBudget;
  /** the maximum number of active features in all projects; undefined for no limit */
  readonly instanceFeatureLimit?: number | undefined;
  readonly maxProjects: number;
  readonly maxSegments: number;
  /** whether constraints may use `REGEX` */
  readonly allowsRegex: boolean;
  /** the maximum bytes of ids in the lists of all segments */
  readonly maxListsBytes: number;
}

/** What endpoints receive: the unit of work for writes, readers for queries, the bus, the settings, and what several operations share. */
export function featuresContext({ readers, applicationBudget, ...options }: ContextOptions) {
  const { bus, transaction } = options;
  return {
    ...readers,
    ...options,
    submitImportProposal: submitImportProposal(bus, transaction),
    storeReport: storeReport(transaction, applicationBudget),
    /** the maximum length of the list of applications */
    applicationsLimit: applicationBudget.limit,
  };
}
export type FeaturesContext = ReturnType<typeof featuresContext>;

/** The projects that the caller may not see, for reads. Repositories leave them out of writes by themselves. */
export function hiddenProjectsOf({ hiddenProjects = [] }: Caller): readonly string[] {
  return hiddenProjects;
}
