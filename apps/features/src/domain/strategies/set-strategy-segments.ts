import type { Decision, Feature } from '../features/feature.ts';
import { strategyOf, type StrategyRef } from './strategy.ts';
import { replaceStrategyContent } from './edit-strategy.ts';
import { validateSegmentIds } from './normalize-strategy.ts';
import type { ProjectContext } from '../project-context.ts';

/** Replaces the segments of a strategy. Emits nothing when they are the same. */
export const setStrategySegments = (
  feature: Feature,
  ref: StrategyRef,
  wanted: readonly number[],
  projectContext: ProjectContext,
): Decision => {
  const before = strategyOf(feature, ref);
  // Validated here as well, since an error names the property of this request.
  const segments = validateSegmentIds(wanted, {
    before: before.segments,
    project: feature.project,
    projectContext,
    path: '/body/segmentIds',
  });
  return replaceStrategyContent(feature, ref, { ...before, segments }, { projectContext, path: '/body' });
};
