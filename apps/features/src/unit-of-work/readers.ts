import type { ReadDatabase } from '@bunting/database';
import { archiveReader } from '../features/archive-reader.ts';
import { dependencyReader } from '../dependencies/dependency-store.ts';
import { lifecycleCountReader } from '../lifecycle/lifecycle-store.ts';
import { findEnvironmentOfReport } from '../usage/find-environment-of-report.ts';
import { applicationReader } from '../applications/application-read-store.ts';
import { cleanupCandidatesReader } from '../cleanup/cleanup-candidates-reader.ts';
import { unknownFlagsReader } from '../cleanup/unknown-flags-reader.ts';
import type { ConstraintSettings } from '../projects/project-context-reader.ts';
import { contextFieldReader } from '../context-fields/context-field-reader.ts';
import { personalDashboardReader } from '../insights/personal-dashboard-reader.ts';
import { flagCreatorsReader } from '../features/flag-creators-reader.ts';
import { environmentReader } from '../environments/environment-reader.ts';
import { featurePartsReader } from '../features/feature-parts-reader.ts';
import { featureReader } from '../features/feature-reader.ts';
import { featureTypeReader } from '../features/feature-type-reader.ts';
import { playgroundReader } from '../playground/playground-store.ts';
import { projectOverviewReader } from '../insights/project-overview-reader.ts';
import { projectReader } from '../projects/project-reader.ts';
import { resourceCountReader } from '../instance/instance-store.ts';
import { segmentReader } from '../segments/segment-reader.ts';
import { changeContextReader } from '../changes/change-context-reader.ts';
import { stateReader } from '../states/state-store.ts';
import { strategyTypeReader } from '../strategy-types/strategy-type-reader.ts';
import { tagReader } from '../tags/tag-reader.ts';
import { edgeInstanceReader } from '../usage/edge-instance-reader.ts';
import { usageReader } from '../usage/usage-reader.ts';

/** Reads outside of transactions: one statement for each reply. */
export const createReaders = (database: ReadDatabase, { allowsRegex }: ConstraintSettings) => ({
  features: featureReader(database),
  featureParts: featurePartsReader(database),
  archive: archiveReader(database),
  dependencies: dependencyReader(database),
  countLifecycles: lifecycleCountReader(database),
  readPlayground: playgroundReader(database),
  projects: projectReader(database),
  segments: segmentReader(database),
  readChangeContext: changeContextReader(database, { allowsRegex }),
  usage: usageReader(database),
  listEdgeInstances: edgeInstanceReader(database),
  applications: applicationReader(database),
  states: stateReader(database),
  cleanup: cleanupCandidatesReader(database),
  listUnknownFlags: unknownFlagsReader(database),
  findEnvironmentOfReport: findEnvironmentOfReport(database),
  countResources: resourceCountReader(database),
  tags: tagReader(database),
  featureTypes: featureTypeReader(database),
  strategyTypes: strategyTypeReader(database),
  environments: environmentReader(database),
  projectOverviews: projectOverviewReader(database),
  personalDashboards: personalDashboardReader(database),
  flagCreators: flagCreatorsReader(database),
  contextFields: contextFieldReader(database),
});

export type Readers = ReturnType<typeof createReaders>;
