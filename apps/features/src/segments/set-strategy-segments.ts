import type { Decision, Feature } from '../features/feature.ts';
import { strategyOf, type StrategyRef } from '../strategies/strategy.ts';
import { replaceStrategyContent } from '../strategies/edit-strategy.ts';
import { normalizeSegmentIds } from '../strategies/normalize-strategy.ts';
import type { ProjectContext } from '../projects/project-context.ts';

/** Replaces the segments of a strategy. Emits nothing when they are the same. */
export const setStrategySegments = (
  feature: Feature,
  ref: StrategyRef,
  segmentIds: readonly number[],
  projectContext: ProjectContext,
): Decision => {
  const before = strategyOf(feature, ref);
  // `replaceStrategyContent` validates them, too, but its errors would name another property than that of this request.
  const segments = normalizeSegmentIds(segmentIds, {
    before: before.segments,
    project: feature.project,
    projectContext,
    path: '/body/segmentIds',
  });
  return replaceStrategyContent(feature, ref, { ...before, segments }, { projectContext, path: '/body' });
};
