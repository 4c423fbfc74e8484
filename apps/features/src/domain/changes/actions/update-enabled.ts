import { disableFeature, enableFeature } from '../../environments/feature-environment.ts';
import { inEnvironment } from '../../strategies/strategy.ts';
import { overwrittenEdits } from '../overwritten-edits.ts';
import type { FeatureRule } from '../rule.ts';

/** Turns the feature on or off. Activates disabled strategies only if the change requests it and all strategies are disabled. */
export const updateEnabledRule: FeatureRule<'updateEnabled'> = {
  phase: 'turn features on or off',
  errorPath: '/payload',
  alsoReads: () => ({}),
  snapshot: (feature, _, { environment }) => ({ enabled: inEnvironment(feature, environment).enabled }),
  overwrites: ({ payload }, states) => overwrittenEdits(states, { enabled: payload.enabled }),
  decide: (feature, { payload: { enabled, shouldActivateDisabledStrategies } }, context) => {
    const { environment, projectContext, generateStrategyId } = context;
    const { strategies } = inEnvironment(feature, environment);
    const activateDisabled = shouldActivateDisabledStrategies === true && strategies.every(({ disabled }) => disabled);
    const decision = enabled
      ? enableFeature(
          feature,
          environment,
          { activateDisabled, defaultStrategyId: generateStrategyId() },
          projectContext,
        )
      : disableFeature(feature, environment, projectContext);
    const activation = shouldActivateDisabledStrategies === undefined ? {} : { shouldActivateDisabledStrategies };
    return { subject: decision.feature, events: decision.events, payload: { enabled, ...activation } };
  },
  conflict: () => undefined,
};
