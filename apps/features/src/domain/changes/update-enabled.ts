import { disableEnvironment, enableEnvironment } from '../environments.ts';
import { inEnvironment } from '../strategy.ts';
import type { FeatureRule } from './rule.ts';

/** Turns the feature on or off. Disabled strategies are activated only where every one is disabled, and where that is wanted. */
export const updateEnabled: FeatureRule<'updateEnabled'> = {
  phase: 6,
  culprit: '/payload',
  replaces: (feature, _, { environment }) => ({ enabled: inEnvironment(feature, environment).enabled }),
  decide: (feature, { payload: { enabled, shouldActivateDisabledStrategies } }, situation) => {
    const { environment, surroundings, newStrategyId } = situation;
    const { strategies } = inEnvironment(feature, environment);
    const activateDisabled = shouldActivateDisabledStrategies === true && strategies.every(({ disabled }) => disabled);
    const decision = enabled
      ? enableEnvironment(feature, environment, { activateDisabled, newStrategyId: newStrategyId() }, surroundings)
      : disableEnvironment(feature, environment, surroundings);
    const activation = shouldActivateDisabledStrategies === undefined ? {} : { shouldActivateDisabledStrategies };
    return { subject: decision.feature, events: decision.events, payload: { enabled, ...activation } };
  },
};
