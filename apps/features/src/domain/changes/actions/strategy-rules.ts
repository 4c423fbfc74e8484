import type { PublicStrategy, Strategy } from '../../features/feature.ts';
import { publicStrategy } from '../../strategies/strategy.ts';
import { shortName, invalidProperty } from '../../refusals.ts';
import type { ProjectContext } from '../../project-context.ts';

/** The snapshot of a strategy in a change. Segments are sorted, so that another order is not taken for an edit later. */
export const strategySnapshot = (strategy: Strategy): PublicStrategy => ({
  ...publicStrategy(strategy),
  segments: strategy.segments.toSorted((one, other) => one - other),
});

/** Refuses a deprecated strategy type, except for a strategy that already has it. */
export const requireCurrentType = (
  name: string,
  before: string | undefined,
  projectContext: ProjectContext,
  path: string,
): void => {
  if (name === before || projectContext.strategyTypes.get(name)?.deprecated !== true) return;
  throw invalidProperty(`Strategy type ${shortName(name)} is deprecated`, `${path}/payload/name`);
};
