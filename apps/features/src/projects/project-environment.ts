import { environmentNotInProject, refusal } from '@bunting/contracts';
import type { DomainEvent, Feature } from '../features/feature.ts';
import { unknownEnvironment } from '../refusals.ts';

/** A project and the names of its environments. */
export interface ProjectEnvironments {
  readonly project: { readonly id: string };
  readonly environments: readonly string[];
}

export const projectEnvironmentAdded = (project: string, environment: string): DomainEvent => ({
  type: 'project-environment-added',
  project,
  environment,
});

/** Adds an environment that exists and that a project does not have yet. Returns the event. */
export const addProjectEnvironment = (
  { project, environments }: ProjectEnvironments,
  environment: string,
  exists: boolean,
): DomainEvent => {
  if (environments.includes(environment)) {
    throw refusal('ConflictError', `${project.id} already has the environment ${environment} enabled`);
  }
  if (!exists) throw unknownEnvironment(environment, '/body/environment');
  return projectEnvironmentAdded(project.id, environment);
};

export const projectEnvironmentRemoved = (project: string, environment: string): DomainEvent => ({
  type: 'project-environment-removed',
  project,
  environment,
});

/** Removes an environment from a project that has it. Returns the event. */
export const removeProjectEnvironment = (
  { project, environments }: ProjectEnvironments,
  environment: string,
): DomainEvent => {
  if (!environments.includes(environment)) throw environmentNotInProject(environment, project.id);
  return projectEnvironmentRemoved(project.id, environment);
};

/** The feature without its settings in an environment that its project no longer has. */
export const withoutEnvironment = (feature: Feature, environment: string): Feature => ({
  ...feature,
  environments: Object.fromEntries(Object.entries(feature.environments).filter(([name]) => name !== environment)),
});
