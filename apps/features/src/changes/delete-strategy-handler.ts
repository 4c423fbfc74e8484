import { strategyOf } from '../strategies/strategy.ts';
import { removeStrategyKeepingEnabled } from '../strategies/edit-strategy.ts';
import { inEnvironment } from '../features/feature-in-environment.ts';
import { findEditsLostByDeletion } from './snapshots.ts';
import type { FeatureActionHandler } from './action-handler.ts';
import { strategySnapshot } from './strategy-helpers.ts';

/** Removes a strategy. A strategy that was removed before is no conflict. */
export const deleteStrategyHandler: FeatureActionHandler<'deleteStrategy'> = {
  phase: 'change strategies',
  errorPath: '/payload/id',
  alsoReads: () => ({}),
  snapshot: (feature, { payload }, { environment }) =>
    strategySnapshot(strategyOf(feature, { environment, strategyId: payload.id })),
  overwrites: (_, states) => findEditsLostByDeletion(states),
  decide: (feature, { payload: { id } }, { environment }) => {
    const payload = { id };
    const exists = inEnvironment(feature, environment).strategies.some((strategy) => strategy.id === id);
    if (!exists) return { subject: feature, events: [], payload };
    const decision = removeStrategyKeepingEnabled(feature, { environment, strategyId: id });
    return { subject: decision.feature, events: decision.events, payload };
  },
  conflict: () => undefined,
};
