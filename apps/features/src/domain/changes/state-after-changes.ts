import type { StoredSegment } from '../constraints/segment.ts';
import type { Feature } from '../features/feature.ts';
import type { SegmentReference } from '../project-context.ts';
import type { ChangeContext } from './rule.ts';

/** The state after some of the changes. */
export interface StateAfterChanges extends ChangeContext {
  readonly features: Map<string, Feature>;
  readonly segments: Map<number, StoredSegment>;
  readonly references: Map<number, SegmentReference>;
}

export const initialState = (context: ChangeContext): StateAfterChanges => {
  const references = new Map(context.projectContext.segments);
  return {
    ...context,
    features: new Map(context.features),
    segments: new Map(context.segments),
    projectContext: { ...context.projectContext, segments: references },
    references,
  };
};

/** Stores the result of a change of a segment; null deletes the segment. */
export const setSegment = (
  { segments, references }: StateAfterChanges,
  id: number,
  segment: StoredSegment | null,
): void => {
  if (segment === null) {
    segments.delete(id);
    references.delete(id);
  } else {
    segments.set(id, segment);
    references.set(id, segment);
  }
};
