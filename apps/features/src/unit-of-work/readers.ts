import type { ReadDatabase } from '@bunting/database';
import {
  archiveReader,
  flagCreatorsReader,
  featurePartsReader,
  featureReader,
} from '../features/feature-read-store.ts';
import { dependencyReader } from '../dependencies/dependency-store.ts';
import { lifecycleCountReader } from '../lifecycle/lifecycle-store.ts';
import { findEnvironmentOfReport, edgeInstanceReader, usageReader } from '../usage/usage-store.ts';
import { applicationReader } from '../applications/application-read-store.ts';
import { cleanupCandidatesReader, unknownFlagsReader } from '../cleanup/cleanup-store.ts';
import type { ConstraintSettings } from '../projects/project-context-store.ts';
import { contextFieldReader } from '../context-fields/context-field-store.ts';
import { personalDashboardReader, projectOverviewReader } from '../insights/insights-store.ts';
import { environmentReader } from '../environments/environment-store.ts';
import { featureTypeReader } from '../features/feature-type-store.ts';
import { playgroundReader } from '../playground/playground-store.ts';
import { projectReader } from '../projects/project-store.ts';
import { resourceCountReader } from '../instance/instance-store.ts';
import { segmentListReader } from '../segment-lists/segment-list-store.ts';
import { segmentReader } from '../segments/segment-store.ts';
import { changeContextReader } from '../changes/change-store.ts';
import { stateReader } from '../states/state-store.ts';
import { strategyTypeReader } from '../strategy-types/strategy-type-store.ts';
import { tagReader } from '../tags/tag-store.ts';

/** Reads outside of transactions: one statement for each reply. */
export function createReaders(database: ReadDatabase, { allowsRegex }: ConstraintSettings) {
  return {
    features: featureReader(database),
    featureParts: featurePartsReader(database),
    archive: archiveReader(database),
    dependencies: dependencyReader(database),
    countLifecycles: lifecycleCountReader(database),
    readPlayground: playgroundReader(database),
    projects: projectReader(database),
    segments: segmentReader(database),
    segmentLists: segmentListReader(database),
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
  };
}

export type Readers = ReturnType<typeof createReaders>;
