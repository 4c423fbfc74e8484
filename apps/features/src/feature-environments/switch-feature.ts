import type { StrategyProperties } from '@bunting/contracts';
import {
  type Decision,
  type DomainEvent,
  type Feature,
  type Strategy,
  featureEvent,
  inEnvironment,
  withEnvironment,
} from '../features/feature.ts';
import { environmentNotOfFeature, archivedFeatureRefused } from '../refusals.ts';
import { strategyOf } from '../strategies/strategy.ts';
import { addStrategy, replaceStrategyContent } from '../strategies/edit-strategy.ts';
import { hasEnvironment, type ProjectContext } from '../projects/project-context.ts';

/** Refuses to turn an archived feature on or off, or a feature in an environment that its project does not have. */
function requireSwitchable(feature: Feature, environment: string, projectContext: ProjectContext): void {
  if (feature.archivedAt !== null) {
    throw archivedFeatureRefused();
  }
  if (!hasEnvironment(projectContext, environment)) {
    throw environmentNotOfFeature(environment, feature.name);
  }
}

/** The strategy that a feature without an active one gets when it is enabled. */
function defaultStrategy(environment: string, { defaultStrategies }: ProjectContext): StrategyProperties {
  const configured = Object.hasOwn(defaultStrategies, environment) ? defaultStrategies[environment] : undefined;
  const { sortOrder: _, ...strategy } = configured ?? { name: 'flexibleRollout' };
  return { ...strategy, disabled: false };
}

function activateStrategies(feature: Feature, environment: string, projectContext: ProjectContext): Decision {
  return inEnvironment(feature, environment).strategies.reduce<Decision>(
    (decision, strategy) => {
      const ref = { environment, strategyId: strategy.id };
      const { feature: after, events } = replaceStrategyContent(
        decision.feature,
        ref,
        { ...strategy, disabled: false },
        { projectContext, path: '' },
      );
      return { feature: after, events: [...decision.events, ...events] };
    },
    { feature, events: [] },
  );
}

function isActive({ disabled }: Strategy): boolean {
  return !disabled;
}

export interface EnableOptions {
  /** whether to activate every disabled strategy; otherwise a feature without an active one gets the default strategy */
  readonly activateDisabled: boolean;
  /** the id of the default strategy, if it is needed */
  readonly defaultStrategyId: string;
}

/** Whether a feature has no strategy in an environment, not even a disabled one. */
export function hasNoStrategy(feature: Feature, environment: string): boolean {
  return inEnvironment(feature, environment).strategies.length === 0;
}

/** Whether enabling the feature would add the default strategy. */
export function needsDefaultStrategy(feature: Feature, environment: string, activateDisabled: boolean): boolean {
  if (hasNoStrategy(feature, environment)) return true;
  return !activateDisabled && !inEnvironment(feature, environment).strategies.some(isActive);
}

export interface EnableDecision extends Decision {
  /** the default strategy, if the feature got it */
  readonly addedStrategy?: Strategy;
}

function addDefaultStrategy(
  feature: Feature,
  environment: string,
  strategyId: string,
  projectContext: ProjectContext,
): EnableDecision {
  const strategy = defaultStrategy(environment, projectContext);
  const decision = addStrategy(feature, strategy, { environment, strategyId, projectContext, path: '' });
  return { ...decision, addedStrategy: strategyOf(decision.feature, { environment, strategyId }) };
}

/** Enables a feature in an environment, and adds or activates strategies so that one is active. */
export function enableFeature(
  feature: Feature,
  environment: string,
  { activateDisabled, defaultStrategyId }: EnableOptions,
  projectContext: ProjectContext,
): EnableDecision {
  requireSwitchable(feature, environment, projectContext);
  const prepared: EnableDecision = needsDefaultStrategy(feature, environment, activateDisabled)
    ? addDefaultStrategy(feature, environment, defaultStrategyId, projectContext)
    : activateDisabled
      ? activateStrategies(feature, environment, projectContext)
      : { feature, events: [] };
  if (inEnvironment(feature, environment).enabled) return prepared;
  const events: readonly DomainEvent[] = [
    ...prepared.events,
    featureEvent('feature-environment-enabled', feature, { environment }),
  ];
  return { ...prepared, feature: withEnvironment(prepared.feature, environment, { enabled: true }), events };
}

/** Disables a feature in an environment; its strategies stay. Emits nothing when it is disabled already. */
export function disableFeature(feature: Feature, environment: string, projectContext: ProjectContext): Decision {
  requireSwitchable(feature, environment, projectContext);
  if (!inEnvironment(feature, environment).enabled) return { feature, events: [] };
  return {
    feature: withEnvironment(feature, environment, { enabled: false }),
    events: [featureEvent('feature-environment-disabled', feature, { environment })],
  };
}
