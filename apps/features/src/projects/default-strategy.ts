import { environmentNotInProject, invalidProperty, isEqualContent, type StrategyProperties } from '@bunting/contracts';
import type { DomainEvent } from '../features/feature.ts';
import { hasEnvironment, type ProjectContext } from './project-context.ts';
import { normalizeStrategy } from '../strategies/normalize-strategy.ts';
import { newStrategyContent } from '../strategies/strategy.ts';

/**
 * Validates the default strategy of a project in an environment, which features get when they are enabled without one. Returns its stored
 * form.
 */
export const normalizeDefaultStrategy = (
  project: string,
  environment: string,
  strategy: StrategyProperties,
  projectContext: ProjectContext,
): StrategyProperties => {
  if (!hasEnvironment(projectContext, environment)) {
    throw environmentNotInProject(environment, project);
  }
  if (strategy.name !== 'flexibleRollout') {
    const reason = 'Only "flexibleRollout" strategy can be used as a default strategy for an environment';
    throw invalidProperty(reason, '/body/name');
  }
  const { constraints, variants, segments, ...content } = normalizeStrategy(newStrategyContent(strategy), {
    project,
    projectContext,
    path: '/body',
  });
  return {
    ...content,
    parameters: { ...content.parameters },
    constraints: [...constraints],
    variants: [...variants],
    segments: [...segments],
    ...(strategy.sortOrder === undefined ? {} : { sortOrder: strategy.sortOrder }),
  };
};

/** The event of a default strategy that replaces another one, or none; no event if they are the same. */
export const defaultStrategyUpdated = (
  { project, environment }: { readonly project: string; readonly environment: string },
  before: StrategyProperties | null,
  after: StrategyProperties,
): readonly DomainEvent[] =>
  before !== null && isEqualContent(after, before)
    ? []
    : [{ type: 'default-strategy-updated', project, environment, data: after, preData: before }];
