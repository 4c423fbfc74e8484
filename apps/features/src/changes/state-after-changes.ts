import { type StoredSegment, usesSegment } from '../segments/segment.ts';
import type { Feature } from '../features/feature.ts';
import type { SegmentReference } from '../projects/project-context.ts';
import type { Referrer } from '../require-unused.ts';
import type { ChangeContext } from './change-context.ts';

/** The state after some of the changes; the properties that `ChangeContext` calls stored stay as they were before. */
export interface StateAfterChanges extends ChangeContext {
  readonly features: Map<string, Feature>;
  readonly segments: Map<number, StoredSegment>;
  /** the segments of `projectContext`, which changes of segments edit here */
  readonly segmentReferences: Map<number, SegmentReference>;
}

export const initialState = (context: ChangeContext): StateAfterChanges => {
  const segmentReferences = new Map(context.projectContext.segments);
  return {
    ...context,
    features: new Map(context.features),
    segments: new Map(context.segments),
    projectContext: { ...context.projectContext, segments: segmentReferences },
    segmentReferences,
  };
};

/** Stores the result of a change of a segment; null deletes the segment. */
export const setSegment = (
  { segments, segmentReferences }: StateAfterChanges,
  id: number,
  segment: StoredSegment | null,
): void => {
  if (segment === null) {
    segments.delete(id);
    segmentReferences.delete(id);
  } else {
    segments.set(id, segment);
    segmentReferences.set(id, segment);
  }
};

/** Returns the active features and default strategies that use a segment, in the state that the context has. */
export const referrersOfSegment = ({ features, segmentReferrers }: ChangeContext, id: number): readonly Referrer[] => {
  const unchanged = (segmentReferrers.get(id) ?? []).filter(({ name }) => !features.has(name));
  const changed: readonly Referrer[] = [...features.values()].filter(
    (feature) => feature.archivedAt === null && usesSegment(feature, id),
  );
  return [...unchanged, ...changed];
};

/** Returns the id of the segment that has a name, in the state that the context has; undefined if no segment has it. */
export const segmentIdOfName = ({ segments, segmentsByName }: ChangeContext, name: string): number | undefined => {
  for (const segment of segments.values()) if (segment.name === name) return segment.id;
  const stored = segmentsByName.get(name);
  // A segment of the changes was compared above, with its name after them.
  return stored !== undefined && segments.has(stored) ? undefined : stored;
};

/** Returns the active features that depend on a feature, in the state that the context has. */
export const childrenOf = ({ children, features }: ChangeContext, name: string): readonly string[] => {
  const unchanged = (children.get(name) ?? []).filter((child) => !features.has(child));
  const changed = [...features.values()].filter(
    ({ archivedAt, dependencies }) => archivedAt === null && dependencies.some(({ feature }) => feature === name),
  );
  return [...unchanged, ...changed.map((feature) => feature.name)];
};
