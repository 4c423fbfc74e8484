import type { Database } from '@bunting/database';
import { type SegmentUseReader, segmentUseReader } from './stored-segments.ts';
import { type ContextFieldReader, contextFieldReader } from './context-fields.ts';
import { type ProjectOverviewReader, projectOverviewReader } from './project-overview-reader.ts';
import { type DashboardReader, dashboardReader } from './dashboard-reader.ts';
import { type EnvironmentReader, environmentReader } from './environments.ts';
import { type StrategyTypeReader, strategyTypeReader } from './strategy-types.ts';
import { type FeatureTypeReader, featureTypeReader } from './feature-types.ts';
import { type TagReader, tagReader } from './tag-catalogue.ts';

/** What surrounds features, for who only looks. */
export interface SettingsReaders {
  readonly tags: TagReader;
  readonly featureTypes: FeatureTypeReader;
  readonly strategyTypes: StrategyTypeReader;
  readonly environments: EnvironmentReader;
  readonly projectOverviews: ProjectOverviewReader;
  readonly dashboard: DashboardReader;
  readonly contextFields: ContextFieldReader;
  readonly segmentUses: SegmentUseReader;
}

export const settingsReadersOf = (database: Database): SettingsReaders => ({
  tags: tagReader(database),
  featureTypes: featureTypeReader(database),
  strategyTypes: strategyTypeReader(database),
  environments: environmentReader(database),
  projectOverviews: projectOverviewReader(database),
  dashboard: dashboardReader(database),
  contextFields: contextFieldReader(database),
  segmentUses: segmentUseReader(database),
});
