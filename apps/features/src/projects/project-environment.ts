import {
  environmentNotInProject,
  invalidProperty,
  isEqualContent,
  refusal,
  type StrategyProperties,
} from '@bunting/contracts';
import type { DomainEvent, Feature } from '../features/feature.ts';
import { unknownEnvironment } from '../refusals.ts';
import { newStrategyContent, normalizeStrategy } from '../strategies/strategy.ts';
import { hasEnvironment, type ProjectContext } from './project-context.ts';

/** A project and the names of its environments. */
export interface ProjectEnvironments {
  readonly project: { readonly id: string };
  readonly environments: readonly string[];
}

export function projectEnvironmentAdded(project: string, environment: string): DomainEvent {
  return {
    type: 'project-environment-added',
    project,
    environment,
  };
}

/** Adds an environment that exists and that a project does not have yet. Returns the event. */
export function addProjectEnvironment(
  { project, environments }: ProjectEnvironments,
  environment: string,
  exists: boolean,
): DomainEvent {
  if (environments.includes(environment)) {
    throw refusal('ConflictError', `${project.id} already has the environment ${environment} enabled`);
  }
  if (!exists) throw unknownEnvironment(environment, '/body/environment');
  return projectEnvironmentAdded(project.id, environment);
}

export function projectEnvironmentRemoved(project: string, environment: string): DomainEvent {
  return {
    type: 'project-environment-removed',
    project,
    environment,
  };
}

/** Removes an environment from a project that has it. Returns the event. */
export function removeProjectEnvironment(
  { project, environments }: ProjectEnvironments,
  environment: string,
): DomainEvent {
  if (!environments.includes(environment)) throw environmentNotInProject(environment, project.id);
  return projectEnvironmentRemoved(project.id, environment);
}

/** The feature without its settings in an environment that its project no longer has. */
export function withoutEnvironment(feature: Feature, environment: string): Feature {
  return {
    ...feature,
    environments: Object.fromEntries(Object.entries(feature.environments).filter(([name]) => name !== environment)),
  };
}

/**
 * Validates the default strategy of a project in an environment, which features get when they are enabled without one. Returns its stored
 * form.
 */
export function normalizeDefaultStrategy(
  project: string,
  environment: string,
  strategy: StrategyProperties,
  projectContext: ProjectContext,
): StrategyProperties {
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
}

/** The event of a default strategy that replaces another one, or none; no event if they are the same. */
export function defaultStrategyUpdated(
  { project, environment }: { readonly project: string; readonly environment: string },
  before: StrategyProperties | null,
  after: StrategyProperties,
): readonly DomainEvent[] {
  return before !== null && isEqualContent(after, before)
    ? []
    : [{ type: 'default-strategy-updated', project, environment, data: after, preData: before }];
}
