import type { Database } from '@bunting/database';
import { type FeatureReader, featureReader } from './feature-reader.ts';
import { type ProjectReader, projectReader } from './project-repository.ts';
import { type SegmentReader, segmentReader } from './segment-repository.ts';
import { type SituationReader, situationReader } from './situation-reader.ts';

/** What is there now, for who only looks: the way past the unit of work, one statement for each answer. */
export interface Readers {
  readonly features: FeatureReader;
  readonly projects: ProjectReader;
  readonly segments: SegmentReader;
  readonly situation: SituationReader;
}

export const readersOf = (database: Database): Readers => ({
  features: featureReader(database),
  projects: projectReader(database),
  segments: segmentReader(database),
  situation: situationReader(database),
});
