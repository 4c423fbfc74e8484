import { addStrategy, hasMaxStrategies } from '../strategies/edit-strategy.ts';
import { strategyOf } from '../strategies/strategy.ts';
import type { FeatureActionHandler } from './action-handler.ts';
import { addedContent, contentConflict, requireTypeNotDeprecated } from './strategy-helpers.ts';

/** Adds a strategy, after the existing ones unless the change has a sort order. */
export const addStrategyHandler: FeatureActionHandler<'addStrategy'> = {
  phase: 'change strategies',
  errorPath: '/payload',
  alsoReads: () => ({}),
  snapshot: () => null,
  overwrites: () => [],
  decide: (feature, { payload }, { environment, projectContext, generateStrategyId }, path) => {
    requireTypeNotDeprecated(payload.name, undefined, projectContext, path);
    const strategyId = generateStrategyId();
    const decision = addStrategy(feature, payload, {
      environment,
      strategyId,
      projectContext,
      path: `${path}/payload`,
    });
    const content = addedContent(strategyOf(decision.feature, { environment, strategyId }));
    const order = payload.sortOrder === undefined ? {} : { sortOrder: payload.sortOrder };
    return { subject: decision.feature, events: decision.events, payload: { ...content, ...order } };
  },
  conflict: ({ kind }, feature, { payload }, context) =>
    kind === 'ExceedsLimitError' && hasMaxStrategies(feature, context.environment)
      ? { code: 'strategy-limit', message: 'Strategy limit reached' }
      : contentConflict(payload, context),
};
