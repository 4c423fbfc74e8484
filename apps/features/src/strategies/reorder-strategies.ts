import { invalidProperty, isEqual, type StrategyPosition } from '@bunting/contracts';
import { type Decision, type Feature, type Strategy, featureEvent } from '../features/feature.ts';
import { hasEnvironment, type ProjectContext } from '../projects/project-context.ts';
import { featureWithoutEnvironment } from '../refusals.ts';
import { withStrategies } from './strategy.ts';
import { inEnvironment } from '../features/feature-in-environment.ts';

const idsOf = (strategies: readonly Strategy[]): readonly string[] => strategies.map(({ id }) => id);

interface ReorderOptions {
  readonly projectContext: ProjectContext;
  /** the JSON pointer of the positions in the request */
  readonly path: string;
}

/** Sets the sort order of strategies; the order of strategies that the payload does not name is unchanged. */
export const reorderStrategies = (
  feature: Feature,
  environment: string,
  positions: readonly StrategyPosition[],
  { projectContext, path: basePath }: ReorderOptions,
): Decision => {
  if (!hasEnvironment(projectContext, environment)) throw featureWithoutEnvironment(feature.name, environment);
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
