import type { Feature, PublicStrategy, Strategy } from '../features/feature.ts';
import { strategyNotFound } from '../refusals.ts';
import { inEnvironment, withEnvironment } from '../features/feature-in-environment.ts';

/** The environment and the id that identify a strategy of a feature. */
export interface StrategyRef {
  readonly environment: string;
  readonly strategyId: string;
}

/** The content of a strategy, without its id and sort order. */
export type StrategyContent = Omit<Strategy, 'id' | 'sortOrder'>;

/** The content of a new strategy, in which properties may be left out. */
export type RequestedStrategyContent = Pick<StrategyContent, 'name'> & {
  readonly [Property in keyof StrategyContent]?: StrategyContent[Property] | null | undefined;
};

/** The content of a new strategy with the defaults of omitted properties, except those of its parameters. */
export const newStrategyContent = ({
  name,
  title,
  disabled,
  constraints,
  parameters,
  variants,
  segments,
}: RequestedStrategyContent): StrategyContent => ({
  name,
  title: title ?? null,
  disabled: disabled ?? false,
  constraints: constraints ?? [],
  parameters: parameters ?? {},
  variants: variants ?? [],
  segments: segments ?? [],
});

/** A strategy as clients see it. */
export const publicStrategy = (strategy: Strategy): PublicStrategy => ({
  id: strategy.id,
  name: strategy.name,
  title: strategy.title,
  disabled: strategy.disabled,
  constraints: [...strategy.constraints],
  parameters: { ...strategy.parameters },
  variants: [...strategy.variants],
  sortOrder: strategy.sortOrder,
  segments: [...strategy.segments],
});

/** The strategy with that id in that environment. @throws Refusal 404, also for a strategy of another environment */
export const strategyOf = (feature: Feature, { environment, strategyId }: StrategyRef): Strategy => {
  const strategy = inEnvironment(feature, environment).strategies.find(({ id }) => id === strategyId);
  if (strategy === undefined) throw strategyNotFound(strategyId);
  return strategy;
};

const bySortOrder = (strategies: readonly Strategy[]): readonly Strategy[] =>
  strategies.toSorted((one, other) => one.sortOrder - other.sortOrder);

/** The feature with these strategies in the environment, by sort order. */
export const withStrategies = (feature: Feature, environment: string, strategies: readonly Strategy[]): Feature =>
  withEnvironment(feature, environment, { strategies: bySortOrder(strategies) });

/** The feature with the strategy of the same id replaced. */
export const replaceStrategy = (feature: Feature, environment: string, strategy: Strategy): Feature =>
  withStrategies(
    feature,
    environment,
    inEnvironment(feature, environment).strategies.map((other) => (other.id === strategy.id ? strategy : other)),
  );
