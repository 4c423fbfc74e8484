import { disableFeature, enableFeature } from '../feature-environments/switch-feature.ts';
import { inEnvironment } from '../features/feature-in-environment.ts';
import { findNewerEdits } from './snapshots.ts';
import type { FeatureActionHandler } from './action-handler.ts';
import { addedContent } from './strategy-helpers.ts';

/** Turns the feature on or off. Activates disabled strategies only if the change requests it and all strategies are disabled. */
export const updateEnabledHandler: FeatureActionHandler<'updateEnabled'> = {
  phase: 'turn features on or off',
  errorPath: '/payload',
  alsoReads: () => ({}),
  snapshot: (feature, _, { environment }) => ({ enabled: inEnvironment(feature, environment).enabled }),
  overwrites: ({ payload }, states) => findNewerEdits(states, { enabled: payload.enabled }),
  decide: (feature, { payload: { enabled, shouldActivateDisabledStrategies } }, context) => {
    const { environment, projectContext, generateStrategyId } = context;
    const { strategies } = inEnvironment(feature, environment);
    const activateDisabled = shouldActivateDisabledStrategies === true && strategies.every(({ disabled }) => disabled);
    const activation = shouldActivateDisabledStrategies === undefined ? {} : { shouldActivateDisabledStrategies };
    const payload = { enabled, ...activation };
    if (!enabled) {
      const decision = disableFeature(feature, environment, projectContext);
      return { subject: decision.feature, events: decision.events, payload };
    }
    const options = { activateDisabled, defaultStrategyId: generateStrategyId() };
    const decision = enableFeature(feature, environment, options, projectContext);
    const { feature: subject, events, addedStrategy } = decision;
    if (addedStrategy === undefined) return { subject, events, payload };
    return { subject, events, payload, implied: { action: 'addStrategy', payload: addedContent(addedStrategy) } };
  },
  conflict: () => undefined,
};
