import {
  type CloneEnvironmentBody,
  type CreateEnvironmentBody,
  type EnvironmentColor,
  type EnvironmentDescription,
  isEqual,
  refusal,
  type UpdateEnvironmentBody,
} from '@bunting/contracts';
import {
  type Decision,
  type DomainEvent,
  type Feature,
  featureEvent,
  inEnvironment,
  withEnvironment,
} from '../features/feature.ts';
import { fixedResourceLimits, maxSortOrder, requireUrlFriendlyName } from '../names.ts';
import { projectEnvironmentRemoved } from '../projects/project-environment.ts';
import { requireBelowLimit, unknownProject } from '../refusals.ts';
import { publicStrategy } from '../strategies/strategy.ts';

/** An environment, such as production, in which features are enabled and have strategies. */
export interface StoredEnvironment {
  readonly name: string;
  readonly type: string;
  readonly sortOrder: number;
  readonly enabled: boolean;
  /** whether it cannot be deleted; change requests are another protection (`changes/protected-edit.ts`) */
  readonly protected: boolean;
  /** the minimum number of approvals that projects can set for this environment from now on; null: each project decides */
  readonly requiredApprovals: number | null;
  /** null where none was chosen */
  readonly color: EnvironmentColor | null;
}

/** An environment as clients get it: without `requiredApprovals` where each project decides, and without a colour that nobody chose. */
export function environmentView({
  requiredApprovals,
  color,
  ...environment
}: StoredEnvironment): EnvironmentDescription {
  return {
    ...environment,
    ...(requiredApprovals === null ? {} : { requiredApprovals }),
    ...(color === null ? {} : { color }),
  };
}

/** What the entity tag of an environment identifies: without a colour, the same as for replicas of the version before. */
export function environmentContent({ color, ...environment }: StoredEnvironment): object {
  return color === null ? environment : { ...environment, color };
}

/** The maximum number of features that an error message lists. */
export const maxListedFeatures = 10;

/** The active features that are enabled in an environment. */
export interface EnabledFeatures {
  readonly total: number;
  /** some of them, at least `maxListedFeatures` where there are as many */
  readonly first: readonly Pick<Feature, 'name' | 'project'>[];
}

/** How many environments exist, and the highest of their sort orders. */
export interface ExistingEnvironments {
  readonly count: number;
  readonly highestSortOrder: number;
}

/** An environment after a change, and its events. An unchanged environment is returned as is, without events. */
export interface EnvironmentDecision {
  readonly environment: StoredEnvironment;
  readonly events: readonly DomainEvent[];
}

/**
 * A new environment, after the existing ones unless the body has a sort order. The caller checks that its name is free.
 * @throws Refusal for a name that needs escapes in a URL, and when the limit of environments is reached
 */
export function newEnvironment(
  { name, type, enabled = true, sortOrder, requiredApprovals = null, color = null }: CreateEnvironmentBody,
  { count, highestSortOrder }: ExistingEnvironments,
): EnvironmentDecision {
  requireUrlFriendlyName(name);
  requireBelowLimit('environment', count, fixedResourceLimits.environments);
  const order = sortOrder ?? Math.min(highestSortOrder + 1, maxSortOrder);
  const environment = { name, type, enabled, sortOrder: order, protected: false, requiredApprovals, color };
  return { environment, events: [{ type: 'environment-created', environment: name, data: environment }] };
}

/** A clone of an environment, after the existing ones. It can be deleted, even if its source cannot, and has no colour: those tell environments apart. */
export function clonedEnvironment(
  source: StoredEnvironment,
  { name, type = source.type }: Pick<CloneEnvironmentBody, 'name' | 'type'>,
  existing: ExistingEnvironments,
): EnvironmentDecision {
  return newEnvironment({ name, type, requiredApprovals: source.requiredApprovals }, existing);
}

/** Updates an environment. Omitted properties do not change. */
export function updateEnvironment(
  environment: StoredEnvironment,
  {
    type = environment.type,
    sortOrder = environment.sortOrder,
    requiredApprovals = environment.requiredApprovals,
    color = environment.color,
  }: UpdateEnvironmentBody,
): EnvironmentDecision {
  const after = { ...environment, type, sortOrder, requiredApprovals, color };
  if (isEqual(after, environment)) return { environment, events: [] };
  const event: DomainEvent = {
    type: 'environment-updated',
    environment: environment.name,
    data: after,
    preData: environment,
  };
  return { environment: after, events: [event] };
}

/**
 * Switches an environment on or off. New projects are connected to enabled environments only; existing features do not change, so there
 * is no event.
 */
export function switchEnvironment(environment: StoredEnvironment, enabled: boolean): StoredEnvironment {
  return environment.enabled === enabled ? environment : { ...environment, enabled };
}

/** The ids of the projects that get the clone of an environment; null for all projects with the environment. */
export function projectsOfClone({ projects }: Pick<CloneEnvironmentBody, 'projects'>): readonly string[] | null {
  return projects === undefined || projects.includes('*') ? null : projects;
}

/** Refuses to clone an environment into a project that does not exist. @param found the projects that got the clone */
export function requireProjectsFound(requested: readonly string[] | null, found: readonly string[]): void {
  for (const [index, id] of (requested ?? []).entries()) {
    if (!found.includes(id)) throw unknownProject(id, `/body/projects/${index}`);
  }
}

/**
 * Deletes an environment that is not protected and in which no active feature is enabled. It is taken from its projects, with the settings that
 * features have in it. Returns the events.
 * @param projects the ids of the projects that have it
 * @param enabled their active features that are enabled in it
 */
export function deleteEnvironment(
  environment: StoredEnvironment,
  projects: readonly string[],
  enabled: EnabledFeatures,
): readonly DomainEvent[] {
  const { name } = environment;
  if (environment.protected) {
    throw refusal('OperationDeniedError', `The environment ${name} is protected and cannot be deleted`);
  }
  if (enabled.total > 0) {
    const listed = enabled.first
      .slice(0, maxListedFeatures)
      .map(({ name: feature, project }) => `${feature} (project ${project})`);
    const more = enabled.total > listed.length ? ` and ${enabled.total - listed.length} more` : '';
    throw refusal(
      'ConflictError',
      `The environment ${name} is in use: turn these features off in it first: ${listed.join(', ')}${more}`,
    );
  }
  return [
    ...projects.map((project) => projectEnvironmentRemoved(project, name)),
    { type: 'environment-deleted', environment: name, preData: environment },
  ];
}

/**
 * Copies strategies of a feature, with new ids, its variants and whether it is enabled from one environment to a new one. Emits nothing for a
 * feature without settings in the source environment.
 */
export function copySettingsToEnvironment(
  feature: Feature,
  { from, to }: { readonly from: string; readonly to: string },
  generateStrategyId: () => string,
): Decision {
  const { enabled, strategies, variants } = inEnvironment(feature, from);
  if (!enabled && strategies.length === 0 && variants.length === 0) return { feature, events: [] };
  const copies = strategies.map((strategy) => ({ ...strategy, id: generateStrategyId() }));
  const events: DomainEvent[] = copies.map((strategy) =>
    featureEvent('feature-strategy-add', feature, { environment: to, data: publicStrategy(strategy) }),
  );
  if (variants.length > 0) {
    const [data, preData] = [{ variants }, { variants: [] }];
    events.push(featureEvent('feature-environment-variants-updated', feature, { environment: to, data, preData }));
  }
  if (enabled) events.push(featureEvent('feature-environment-enabled', feature, { environment: to }));
  return { feature: withEnvironment(feature, to, { enabled, strategies: copies, variants }), events };
}
