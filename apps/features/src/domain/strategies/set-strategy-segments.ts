import { type Decision, type Feature, featureEvent } from '../features/feature.ts';
import { isEqual } from '../is-equal.ts';
import { publicStrategy, replaceStrategy, strategyOf, type StrategyRef, validateSegmentIds } from './strategy.ts';
import type { ProjectContext } from '../project-context.ts';

/** Replaces the segments of a strategy. Emits nothing when they are the same. */
export const setStrategySegments = (
  feature: Feature,
  ref: StrategyRef,
  wanted: readonly number[],
  projectContext: ProjectContext,
): Decision => {
  const before = strategyOf(feature, ref);
  const segments = validateSegmentIds(wanted, {
    before: before.segments,
    project: feature.project,
    projectContext,
    path: '/body/segmentIds',
  });
  if (isEqual(segments, before.segments)) return { feature, events: [] };
  const after = { ...before, segments };
  const event = featureEvent('feature-strategy-update', feature, {
    environment: ref.environment,
    preData: publicStrategy(before),
    data: publicStrategy(after),
  });
  return { feature: replaceStrategy(feature, ref.environment, after), events: [event] };
};
