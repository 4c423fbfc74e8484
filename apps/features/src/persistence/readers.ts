import type { Database } from '@bunting/database';
import { type ApplicationEnvironments, applicationEnvironments } from './application-environments.ts';
import { type ApplicationReader, applicationReader } from './application-reader.ts';
import { type ClientFeaturesReader, clientFeaturesReader } from './client-features-reader.ts';
import { type FeaturePartsReader, featurePartsReader } from './feature-parts-reader.ts';
import { type FeatureReader, featureReader } from './feature-reader.ts';
import { type ProjectReader, projectReader } from './project-repository.ts';
import { type ResourceCounter, resourceCounter } from './resource-counter.ts';
import { type SegmentReader, segmentReader } from './segment-repository.ts';
import { type SituationReader, situationReader } from './situation-reader.ts';
import { type SettingsReaders, settingsReadersOf } from './settings-readers.ts';
import { type StateReader, stateReader } from './state-reader.ts';
import { type UsageReader, usageReader } from './usage-reader.ts';

/** What is there now, for who only looks: the way past the unit of work, one statement for each answer. */
export interface Readers {
  readonly features: FeatureReader;
  readonly parts: FeaturePartsReader;
  readonly projects: ProjectReader;
  readonly segments: SegmentReader;
  readonly situation: SituationReader;
  readonly settings: SettingsReaders;
  readonly usage: UsageReader;
  readonly applications: ApplicationReader;
  readonly states: StateReader;
  readonly clients: ClientFeaturesReader;
  readonly applicationEnvironments: ApplicationEnvironments;
  readonly countResources: ResourceCounter;
}

export const readersOf = (database: Database): Readers => ({
  features: featureReader(database),
  parts: featurePartsReader(database),
  projects: projectReader(database),
  segments: segmentReader(database),
  situation: situationReader(database),
  settings: settingsReadersOf(database),
  usage: usageReader(database),
  applications: applicationReader(database),
  states: stateReader(database),
  clients: clientFeaturesReader(database),
  applicationEnvironments: applicationEnvironments(database),
  countResources: resourceCounter(database),
});
