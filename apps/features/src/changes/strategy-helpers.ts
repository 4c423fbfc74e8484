import { type ChangeOf, type ConflictCause, invalidProperty } from '@bunting/contracts';
import type { Feature, PublicStrategy, Strategy } from '../features/feature.ts';
import { publicStrategy } from '../strategies/strategy.ts';
import { inEnvironment } from '../features/feature-in-environment.ts';
import { shortName } from '../refusals.ts';
import type { ProjectContext } from '../projects/project-context.ts';
import { segmentDeletedCause, segmentOfAnotherProjectCause } from './conflict-causes.ts';
import type { ChangeContext } from './change-context.ts';

/** The snapshot of a strategy in a change. Segments are sorted, so that another order is not taken for an edit later. */
export const strategySnapshot = (strategy: Strategy): PublicStrategy => ({
  ...publicStrategy(strategy),
  segments: strategy.segments.toSorted((one, other) => one - other),
});

/** The content of an added strategy, without its id and sort order. */
export const addedContent = (strategy: Strategy) => {
  const { id: _, sortOrder: __, ...content } = publicStrategy(strategy);
  return content;
};

/** Refuses a deprecated strategy type, except for a strategy that already has it. */
export const requireTypeNotDeprecated = (
  name: string,
  before: string | undefined,
  projectContext: ProjectContext,
  path: string,
): void => {
  if (name === before || projectContext.strategyTypes.get(name)?.deprecated !== true) return;
  throw invalidProperty(`Strategy type ${shortName(name)} is deprecated`, `${path}/payload/name`);
};

/** Whether a feature has all of these strategies in the environment. */
export const hasStrategies = (feature: Feature, environment: string, ids: readonly string[]): boolean => {
  const { strategies } = inEnvironment(feature, environment);
  return ids.every((id) => strategies.some((strategy) => strategy.id === id));
};

/** The conflict of a strategy whose segments or type changed since it was proposed. */
export const contentConflict = (
  { name, segments = [] }: ChangeOf<'addStrategy' | 'updateStrategy'>['payload'],
  { projectContext, project }: ChangeContext,
): ConflictCause | undefined => {
  for (const id of segments) {
    const segment = projectContext.segments.get(id);
    if (segment === undefined) return segmentDeletedCause(id);
    if (segment.project !== null && segment.project !== project)
      return segmentOfAnotherProjectCause(segment.name, project);
  }
  if (name === undefined) return undefined;
  const type = projectContext.strategyTypes.get(name);
  if (type === undefined) {
    return { code: 'strategy-type-gone', message: `Strategy type ${shortName(name)} no longer exists` };
  }
  return type.deprecated
    ? { code: 'strategy-type-deprecated', message: `Strategy type ${shortName(name)} is deprecated` }
    : undefined;
};
