import { removeStrategyOnly, inEnvironment, strategyOf } from '../../strategies/strategy.ts';
import { editsLostByDeletion } from '../overwritten-edits.ts';
import type { FeatureRule } from '../rule.ts';
import { strategySnapshot } from './strategy-rules.ts';

/** Removes a strategy. A strategy that was removed before is no conflict. */
export const deleteStrategyRule: FeatureRule<'deleteStrategy'> = {
  phase: 'change strategies',
  errorPath: '/payload/id',
  alsoReads: () => ({}),
  snapshot: (feature, { payload }, { environment }) =>
    strategySnapshot(strategyOf(feature, { environment, strategyId: payload.id })),
  overwrites: (_, states) => editsLostByDeletion(states),
  decide: (feature, { payload: { id } }, { environment }) => {
    const payload = { id };
    const isThere = inEnvironment(feature, environment).strategies.some((strategy) => strategy.id === id);
    if (!isThere) return { subject: feature, events: [], payload };
    const decision = removeStrategyOnly(feature, { environment, strategyId: id });
    return { subject: decision.feature, events: decision.events, payload };
  },
  conflict: () => undefined,
};
