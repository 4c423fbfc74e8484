import type { StrategyPosition } from '@bunting/contracts';
import { reorderStrategies } from '../strategies/reorder-strategies.ts';
import { inEnvironment } from '../features/feature-in-environment.ts';
import { strategyDeletedCause } from './conflict-causes.ts';
import { findNewerEdits } from './snapshots.ts';
import type { FeatureActionHandler } from './action-handler.ts';
import { hasStrategies } from './strategy-helpers.ts';

/**
 * The sort orders of a snapshot as one property, so that they are compared together; null without a snapshot.
 * @param moved new sort orders, by id of the strategy
 */
const sortOrdersOf = (positions: unknown, moved: ReadonlyMap<string, number> = new Map()) =>
  Array.isArray(positions)
    ? { sortOrder: positions.map(({ id, sortOrder }: StrategyPosition) => [id, moved.get(id) ?? sortOrder]) }
    : null;

/** Puts strategies into another order. */
export const reorderStrategyHandler: FeatureActionHandler<'reorderStrategy'> = {
  phase: 'change strategies',
  errorPath: '/payload',
  alsoReads: () => ({}),
  snapshot: (feature, _, { environment }) =>
    inEnvironment(feature, environment).strategies.map(({ id, sortOrder }) => ({ id, sortOrder })),
  overwrites: ({ payload }, { snapshot, current }) =>
    findNewerEdits(
      { snapshot: sortOrdersOf(snapshot), current: sortOrdersOf(current) },
      sortOrdersOf(current, new Map(payload.map(({ id, sortOrder }) => [id, sortOrder]))) ?? {},
    ),
  decide: (feature, { payload }, { environment, projectContext }, path) => {
    const decision = reorderStrategies(feature, environment, payload, { projectContext, path: `${path}/payload` });
    return {
      subject: decision.feature,
      events: decision.events,
      payload: payload.map(({ id, sortOrder }) => ({ id, sortOrder })),
    };
  },
  conflict: (_, feature, { payload }, { environment }) => {
    const ids = payload.map(({ id }) => id);
    return hasStrategies(feature, environment, ids) ? undefined : strategyDeletedCause;
  },
};
