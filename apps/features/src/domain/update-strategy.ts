import type { UpdateStrategyBody } from '@bunting/contracts';
import type { Decision, Feature } from './feature.ts';
import {
  changeStrategy,
  completeParameters,
  settled,
  type StrategyContent,
  strategyOf,
  type StrategyRef,
} from './strategy.ts';
import type { Surroundings } from './surroundings.ts';

/**
 * Replaces the constraints and variants of a strategy; what else the update leaves out stays as it is, and so do its
 * identity and its place. The feature goes off with its last active strategy.
 */
export const updateStrategy = (
  feature: Feature,
  at: StrategyRef,
  update: UpdateStrategyBody,
  surroundings: Surroundings,
): Decision => {
  const before = strategyOf(feature, at);
  const name = update.name ?? before.name;
  const wanted: StrategyContent = {
    name,
    title: update.title ?? before.title,
    disabled: update.disabled ?? before.disabled,
    constraints: update.constraints ?? [],
    parameters:
      update.parameters === undefined && name === before.name
        ? before.parameters
        : completeParameters(name, update.parameters ?? before.parameters, feature, surroundings, before),
    variants: update.variants ?? [],
    segments: update.segments ?? before.segments,
  };
  const decision = changeStrategy(feature, at, wanted, surroundings, '/body');
  if (decision.feature === feature) return decision;
  const { feature: after, events } = settled(decision.feature, at.environment);
  return { feature: after, events: [...decision.events, ...events] };
};
