import {
  type CloneFeatureBody,
  type CreateFeatureBody,
  type FeatureType,
  limitExceeded,
  refusal,
  type UserReference,
} from '@bunting/contracts';
import { type FeatureNaming, requireMatchingName, requireUrlFriendlyName } from '../names.ts';
import { archivedFeatureRefused } from '../refusals.ts';
import { publicStrategy } from '../strategies/strategy.ts';
import { withTags } from '../tags/tag.ts';
import {
  changeMetadata,
  type Decision,
  type DomainEvent,
  type Feature,
  featureEvent,
  featureWithoutEnvironments,
  type Strategy,
} from './feature.ts';

export interface FeatureCreation {
  readonly project: string;
  /** the time of the creation in ISO 8601 */
  readonly now: string;
  readonly author: UserReference;
  readonly naming?: FeatureNaming | null | undefined;
}

/** Creates a feature: off in every environment of its project, and without strategies. Whether its name is free is not decided here. */
export function createFeature(
  body: CreateFeatureBody,
  { project, now, author, naming }: FeatureCreation,
  path = '/body',
): Decision<'feature-created'> {
  requireUrlFriendlyName(body.name, `${path}/name`);
  requireMatchingName(body.name, naming, `${path}/name`);
  const created: Feature = {
    name: body.name,
    project,
    ...changeMetadata(body),
    createdAt: now,
    createdBy: author,
    archivedAt: null,
    environments: {},
    tags: [],
    dependencies: [],
    lifecycle: [{ stage: 'initial', enteredStageAt: now }],
    links: [],
    collaborators: [author],
  };
  const feature = withTags(created, body.tags ?? []);
  return { feature, events: [featureEvent('feature-created', feature, { data: featureWithoutEnvironments(feature) })] };
}

/** Sets the group of a copied strategy, so that the clone divides users independently of its source. */
function withGroupId(strategy: Strategy, groupId: string): Strategy {
  return strategy.parameters['groupId'] === undefined
    ? strategy
    : { ...strategy, parameters: { ...strategy.parameters, groupId } };
}

/**
 * Creates a feature like another one: its strategies, with new ids, its variants and its parent; off everywhere, and without
 * its tags. Whether its name is free is not decided here.
 * @throws Refusal for an archived source: what its strategies refer to may have been deleted.
 */
export function cloneFeature(
  source: Feature,
  { name, replaceGroupId = true }: CloneFeatureBody,
  origin: FeatureCreation,
  generateStrategyId: () => string,
): Decision {
  if (source.archivedAt !== null) throw archivedFeatureRefused();
  const metadata = { ...changeMetadata(source), type: source.type as FeatureType };
  const created = createFeature({ ...metadata, name }, origin);
  const environments = Object.entries(source.environments).map(([environment, { strategies, variants }]) => {
    const copies = strategies
      .map((strategy) => ({ ...strategy, id: generateStrategyId() }))
      .map((strategy) => (replaceGroupId ? withGroupId(strategy, name) : strategy));
    return [environment, { enabled: false, strategies: copies, variants }] as const;
  });
  const { dependencies } = source;
  const feature: Feature = { ...created.feature, environments: Object.fromEntries(environments), dependencies };
  const events: DomainEvent[] = environments.flatMap(([environment, { strategies }]) =>
    strategies.map((strategy) =>
      featureEvent('feature-strategy-add', feature, { environment, data: publicStrategy(strategy) }),
    ),
  );
  for (const dependency of dependencies)
    events.push(featureEvent('feature-dependency-added', feature, { data: dependency }));
  return { feature, events: [...created.events, ...events] };
}

/** Numbers of active features: the maximum, and how many there would be. */
export interface FeatureCount {
  readonly limit: number;
  readonly features: number;
}

/** Refuses more active features than a project may have. */
export function requireWithinProjectLimit({ limit, features }: FeatureCount): void {
  if (features <= limit) return;
  throw refusal('InvalidOperationError', 'You have reached the maximum number of feature flags for this project.');
}

/** Refuses more active features than all projects together may have. */
export function requireWithinInstanceLimit({ limit, features }: FeatureCount): void {
  if (features > limit) throw limitExceeded('feature flag', limit);
}
