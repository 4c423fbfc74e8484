import type { Feature } from '../features/feature.ts';
import type { StoredSegment } from '../segments/segment.ts';
import type { ProjectContext } from '../projects/project-context.ts';
import type { Referrer } from '../require-unused.ts';

/**
 * The objects that changes read or write. The operation loads them first, in the state before the changes; a `StateAfterChanges` is the
 * same after some of them.
 */
export interface ChangeContext {
  readonly project: string;
  readonly environment: string;
  readonly projectContext: ProjectContext;
  /** the environments of the project in which direct edits require a change request */
  readonly protectedEnvironments: readonly string[];
  /** the current time in ISO 8601 */
  readonly now: string;
  readonly generateStrategyId: () => string;
  /** by name: the features that changes edit, and their future parents; also archived ones, and those of other projects */
  readonly features: ReadonlyMap<string, Feature>;
  /** by name of a feature: the stored active features that depend on it; `childrenOf` regards the changes */
  readonly children: ReadonlyMap<string, readonly string[]>;
  /** by id: the segments that changes edit or delete */
  readonly segments: ReadonlyMap<number, StoredSegment>;
  /** by id of a segment: the stored active features and default strategies that use it; `referrersOfSegment` regards the changes */
  readonly segmentReferrers: ReadonlyMap<number, readonly Referrer[]>;
  /** by requested name of a segment: the id of the stored segment that has it; `segmentIdOfName` regards the changes */
  readonly segmentsByName: ReadonlyMap<string, number>;
}
