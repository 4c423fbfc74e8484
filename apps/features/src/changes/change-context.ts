import { type Change, type ChangeOf, isSegmentChange, type StagedSegmentList } from '@bunting/contracts';
import type { Feature } from '../features/feature.ts';
import type { Referrer } from '../names.ts';
import type { ProjectContext, SegmentReference } from '../projects/project-context.ts';
import { type StoredSegment, usesSegment } from '../segments/segment.ts';

/** A list that was uploaded for a change request. */
export interface StagedList extends StagedSegmentList {
  readonly contextName: string;
  readonly root: string;
  readonly segment: number;
  /** of its ids, each with a line break */
  readonly bytes: number;
  /** the version that the list of the segment would have if it were set now */
  readonly nextVersion: number;
}

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
  /** the staged lists that changes name */
  readonly stagedLists: readonly StagedList[];
}

/** The state after some of the changes; the properties that `ChangeContext` calls stored stay as they were before. */
export interface StateAfterChanges extends ChangeContext {
  readonly features: Map<string, Feature>;
  readonly segments: Map<number, StoredSegment>;
  /** the segments of `projectContext`, which changes of segments edit here */
  readonly segmentReferences: Map<number, SegmentReference>;
}

export function initialState(context: ChangeContext): StateAfterChanges {
  const segmentReferences = new Map(context.projectContext.segments);
  return {
    ...context,
    features: new Map(context.features),
    segments: new Map(context.segments),
    projectContext: { ...context.projectContext, segments: segmentReferences },
    segmentReferences,
  };
}

/** Stores the result of a change of a segment; null deletes the segment. */
export function setSegment(
  { segments, segmentReferences }: StateAfterChanges,
  id: number,
  segment: StoredSegment | null,
): void {
  if (segment === null) {
    segments.delete(id);
    segmentReferences.delete(id);
  } else {
    segments.set(id, segment);
    segmentReferences.set(id, segment);
  }
}

/** Returns the active features and default strategies that use a segment, in the state that the context has. */
export function referrersOfSegment({ features, segmentReferrers }: ChangeContext, id: number): readonly Referrer[] {
  const unchanged = (segmentReferrers.get(id) ?? []).filter(({ name }) => !features.has(name));
  const changed: readonly Referrer[] = [...features.values()].filter(
    (feature) => feature.archivedAt === null && usesSegment(feature, id),
  );
  return [...unchanged, ...changed];
}

/** Returns the id of the segment that has a name, in the state that the context has; undefined if no segment has it. */
export function segmentIdOfName({ segments, segmentsByName }: ChangeContext, name: string): number | undefined {
  for (const segment of segments.values()) if (segment.name === name) return segment.id;
  const stored = segmentsByName.get(name);
  // A segment of the changes was compared above, with its name after them.
  return stored !== undefined && segments.has(stored) ? undefined : stored;
}

/** Returns the staged list that a change names; undefined where it is gone. */
export function stagedListOf(
  { stagedLists }: ChangeContext,
  { id, contextName, root }: ChangeOf<'updateSegmentList'>['payload'],
): StagedList | undefined {
  return stagedLists.find((one) => one.segment === id && one.contextName === contextName && one.root === root);
}

/** Returns the active features that depend on a feature, in the state that the context has. */
export function childrenOf({ children, features }: ChangeContext, name: string): readonly string[] {
  const unchanged = (children.get(name) ?? []).filter((child) => !features.has(child));
  const changed = [...features.values()].filter(
    ({ archivedAt, dependencies }) => archivedAt === null && dependencies.some(({ feature }) => feature === name),
  );
  return [...unchanged, ...changed.map((feature) => feature.name)];
}

/** The names of the features that changes edit, each once. */
export function featureNamesOf(changes: readonly Change[]): string[] {
  return [...new Set(changes.flatMap((change) => (isSegmentChange(change) ? [] : [change.feature])))];
}

/** The ids of the segments that changes edit or delete, each once. */
export function segmentIdsOf(changes: readonly Change[]): number[] {
  return [...new Set(changes.flatMap((change) => (isSegmentChange(change) ? [change.payload.id] : [])))];
}
