import * as strategies from '../strategy.ts';
import type { FeatureRule } from './rule.ts';
import { requireCurrentType } from './strategy-type.ts';

/** Adds a strategy, after the others unless the change says where. */
export const addStrategy: FeatureRule<'addStrategy'> = {
  phase: 3,
  culprit: '/payload',
  replaces: () => null,
  decide: (feature, { payload }, { environment, surroundings, newStrategyId }, at) => {
    requireCurrentType(payload.name, undefined, surroundings, at);
    const strategyId = newStrategyId();
    const decision = strategies.addStrategy(feature, environment, payload, strategyId, surroundings, `${at}/payload`);
    const {
      id: _,
      sortOrder: __,
      ...content
    } = strategies.publicStrategy(strategies.strategyOf(decision.feature, { environment, strategyId }));
    const place = payload.sortOrder === undefined ? {} : { sortOrder: payload.sortOrder };
    return { subject: decision.feature, events: decision.events, payload: { ...content, ...place } };
  },
};
