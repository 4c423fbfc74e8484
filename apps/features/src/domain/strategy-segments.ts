import type { Decision, Feature } from './feature.ts';
import { isSame } from './same.ts';
import { publicStrategy, replaceStrategy, strategyOf, type StrategyRef, validatedSegments } from './strategy.ts';
import type { Surroundings } from './surroundings.ts';
import { told } from './told.ts';

/** Has a strategy use other segments. Nothing is told when they are the same. */
export const setStrategySegments = (
  feature: Feature,
  at: StrategyRef,
  wanted: readonly number[],
  surroundings: Surroundings,
): Decision => {
  const before = strategyOf(feature, at);
  const segments = validatedSegments(wanted, {
    before: before.segments,
    project: feature.project,
    surroundings,
    at: '/body/segmentIds',
  });
  if (isSame(segments, before.segments)) return { feature, events: [] };
  const after = { ...before, segments };
  const event = told('feature-strategy-update', feature, {
    environment: at.environment,
    preData: publicStrategy(before),
    data: publicStrategy(after),
  });
  return { feature: replaceStrategy(feature, at.environment, after), events: [event] };
};
