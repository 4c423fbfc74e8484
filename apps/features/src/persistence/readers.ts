import { applicationEnvironments } from './application-environments.ts';
import { applicationReader } from './application-reader.ts';
import { clientFeaturesReader } from './client-features-reader.ts';
import { contextFieldReader } from './context-fields.ts';
import { dashboardReader } from './dashboard-reader.ts';
import { environmentReader } from './environments.ts';
import { featurePartsReader } from './feature-parts-reader.ts';
import { featureReader } from './feature-reader.ts';
import { featureTypeReader } from './feature-types.ts';
import { projectOverviewReader } from './project-overview-reader.ts';
import { projectReader } from './project-repository.ts';
import { resourceCounter } from './resource-counter.ts';
import { segmentReader } from './segment-repository.ts';
import { situationReader } from './situation-reader.ts';
import { stateReader } from './state-reader.ts';
import { segmentUseReader } from './stored-segments.ts';
import { strategyTypeReader } from './strategy-types.ts';
import { tagReader } from './tag-catalogue.ts';
import { usageReader } from './usage-reader.ts';
import type { Database } from '@bunting/database';

/** What reads outside of a unit of work: one statement for each answer. */
export const readersOf = (database: Database) => ({
  features: featureReader(database),
  parts: featurePartsReader(database),
  projects: projectReader(database),
  segments: segmentReader(database),
  situation: situationReader(database),
  usage: usageReader(database),
  applications: applicationReader(database),
  states: stateReader(database),
  clients: clientFeaturesReader(database),
  applicationEnvironments: applicationEnvironments(database),
  countResources: resourceCounter(database),
  tags: tagReader(database),
  featureTypes: featureTypeReader(database),
  strategyTypes: strategyTypeReader(database),
  environments: environmentReader(database),
  projectOverviews: projectOverviewReader(database),
  dashboard: dashboardReader(database),
  contextFields: contextFieldReader(database),
  segmentUses: segmentUseReader(database),
});

export type Readers = ReturnType<typeof readersOf>;
