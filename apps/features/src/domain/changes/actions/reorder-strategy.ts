import type { StrategyPosition } from '@bunting/contracts';
import { type Decision, type Feature, type Strategy, featureEvent } from '../../features/feature.ts';
import { invalidProperty } from '../../refusals.ts';
import { isEqual } from '../../is-equal.ts';
import { inEnvironment, withStrategies } from '../../strategies/strategy.ts';
import { strategyDeleted } from '../conflict-cause.ts';
import { overwrittenEdits } from '../overwritten-edits.ts';
import type { FeatureRule } from '../rule.ts';
import { hasStrategies } from './strategy-rules.ts';

const idsOf = (strategies: readonly Strategy[]): readonly string[] => strategies.map(({ id }) => id);

/** Sets the sort order of strategies; the order of strategies that the payload does not name is unchanged. */
export const reorderStrategies = (
  feature: Feature,
  environment: string,
  positions: readonly StrategyPosition[],
  basePath: string,
): Decision => {
  const before = inEnvironment(feature, environment).strategies;
  const sortOrders = new Map<string, number>();
  for (const [index, { id, sortOrder }] of positions.entries()) {
    const path = `${basePath}/${index}/id`;
    if (!before.some((strategy) => strategy.id === id)) {
      throw invalidProperty('trying to change strategies for environment via update sortOrder', path);
    }
    if (sortOrders.has(id)) throw invalidProperty('a strategy has one sort order only', path);
    sortOrders.set(id, sortOrder);
  }
  const moved = before.map((strategy) => ({
    ...strategy,
    sortOrder: sortOrders.get(strategy.id) ?? strategy.sortOrder,
  }));
  if (isEqual(moved, before)) return { feature, events: [] };
  const after = withStrategies(feature, environment, moved);
  const event = featureEvent('strategy-order-changed', feature, {
    environment,
    preData: { strategyIds: idsOf(before) },
    data: { strategyIds: idsOf(inEnvironment(after, environment).strategies) },
  });
  return { feature: after, events: [event] };
};

/** The sort orders of a snapshot as one property, with those of moved strategies by id; null for no snapshot. */
const orderOf = (positions: unknown, moved: ReadonlyMap<string, number> = new Map()) =>
  Array.isArray(positions)
    ? { sortOrder: positions.map(({ id, sortOrder }: StrategyPosition) => [id, moved.get(id) ?? sortOrder]) }
    : null;

/** Puts strategies into another order. */
export const reorderStrategyRule: FeatureRule<'reorderStrategy'> = {
  phase: 'change strategies',
  errorPath: '/payload',
  alsoReads: () => ({}),
  snapshot: (feature, _, { environment }) =>
    inEnvironment(feature, environment).strategies.map(({ id, sortOrder }) => ({ id, sortOrder })),
  overwrites: ({ payload }, { snapshot, current }) =>
    overwrittenEdits(
      { snapshot: orderOf(snapshot), current: orderOf(current) },
      orderOf(current, new Map(payload.map(({ id, sortOrder }) => [id, sortOrder]))) ?? {},
    ),
  decide: (feature, { payload }, { environment }, basePath) => {
    const decision = reorderStrategies(feature, environment, payload, `${basePath}/payload`);
    return {
      subject: decision.feature,
      events: decision.events,
      payload: payload.map(({ id, sortOrder }) => ({ id, sortOrder })),
    };
  },
  conflict: (_, feature, { payload }, { environment }) => {
    const ids = payload.map(({ id }) => id);
    return hasStrategies(feature, environment, ids) ? undefined : strategyDeleted;
  },
};
