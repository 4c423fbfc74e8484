import type { Feature } from '../features/feature.ts';
import type { StoredSegment } from '../constraints/segment.ts';
import type { ProjectContext } from '../project-context.ts';

/** A feature that uses a segment. */
export interface FeatureReference {
  readonly name: string;
  readonly project: string;
}

/** The objects that changes read or write, in the state before them. The operation loads them first. */
export interface ChangeContext {
  readonly project: string;
  readonly environment: string;
  readonly projectContext: ProjectContext;
  /** the current time in ISO 8601 */
  readonly now: string;
  readonly generateStrategyId: () => string;
  /** by name: the features that changes are about, and those that they are to depend on; archived and foreign ones too */
  readonly features: ReadonlyMap<string, Feature>;
  /** by name of a feature: the active features that depend on it */
  readonly children: ReadonlyMap<string, readonly string[]>;
  /** by id: the segments that changes are about */
  readonly segments: ReadonlyMap<number, StoredSegment>;
  /** by id of a segment: the active features that use it */
  readonly segmentUsers: ReadonlyMap<number, readonly FeatureReference[]>;
  /** the segments that already have one of the requested names, by name */
  readonly segmentsByName: ReadonlyMap<string, number>;
}
