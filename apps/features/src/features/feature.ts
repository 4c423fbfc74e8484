import {
  type Constraint,
  type EventContent,
  type EventType,
  type FeatureLink,
  type FeatureStrategy,
  type FeatureVariant,
  type FeatureWithoutEnvironments,
  type LifecycleStage,
  type FeatureFields,
  featureFieldNames,
  newFeatureMetadata,
  refusal,
  type StrategyVariant,
  type Tag,
  type UserReference,
} from '@bunting/contracts';
import { shortName } from '../refusals.ts';

/** One activation rule of a feature in an environment. Its id and its environment are its identity. */
export interface Strategy {
  readonly id: string;
  readonly name: string;
  readonly title: string | null;
  readonly disabled: boolean;
  readonly sortOrder: number;
  readonly constraints: readonly Constraint[];
  readonly parameters: Readonly<Record<string, string>>;
  readonly variants: readonly StrategyVariant[];
  readonly segments: readonly number[];
}

/** The settings of a feature in one environment of its project. */
export interface FeatureInEnvironment {
  readonly enabled: boolean;
  /** by sort order */
  readonly strategies: readonly Strategy[];
  readonly variants: readonly FeatureVariant[];
}

export interface Dependency {
  readonly feature: string;
  readonly enabled: boolean;
  readonly variants: readonly string[];
}

/** A lifecycle stage that a feature has entered. */
export interface EnteredStage {
  readonly stage: LifecycleStage;
  readonly status?: string | null;
  readonly enteredStageAt: string;
}

/** A flag with all its settings. It is stored as one row, so that one row lock covers all of it (ADR 2). */
export interface Feature extends FeatureFields {
  readonly name: string;
  readonly project: string;
  readonly createdAt: string;
  readonly createdBy: UserReference;
  readonly archivedAt: string | null;
  /** by name; the feature is off and has no settings in environments of its project that are missing here */
  readonly environments: Readonly<Record<string, FeatureInEnvironment>>;
  readonly tags: readonly Tag[];
  readonly dependencies: readonly Dependency[];
  /** in the order in which they were entered */
  readonly lifecycle: readonly EnteredStage[];
  /** in the order in which they were added */
  readonly links: readonly FeatureLink[];
  /** everyone who changed the feature, latest change first */
  readonly collaborators: readonly UserReference[];
}

export function strategiesOf({ environments }: Pick<Feature, 'environments'>): readonly Strategy[] {
  return Object.values(environments).flatMap(({ strategies }) => strategies);
}

/** An event of a decision; the unit of work adds its author and time. */
export type DomainEvent<Type extends EventType = EventType> = EventContent & { readonly type: Type };

/** The feature after a change, and its events. An unchanged feature is returned as is, without events. */
export interface Decision<Type extends EventType = EventType> {
  readonly feature: Feature;
  readonly events: readonly DomainEvent<Type>[];
}

/** A strategy as clients see it. */
export type PublicStrategy = Required<Omit<FeatureStrategy, 'featureName'>>;

/** An event about a feature, with the tags that the feature has now. */
export function featureEvent<Type extends EventType>(
  type: Type,
  feature: Pick<Feature, 'project' | 'name' | 'tags'>,
  more: Pick<DomainEvent, 'environment' | 'data' | 'preData' | 'tags'> = {},
): DomainEvent<Type> {
  return { type, project: feature.project, featureName: feature.name, tags: feature.tags, ...more };
}

/** The settings of a feature in an environment for which none are stored. */
export const emptyEnvironment: FeatureInEnvironment = { enabled: false, strategies: [], variants: [] };

/**
 * The settings of a feature in one environment; disabled and empty where none are stored, also for an environment named like a property of
 * every object, such as `constructor`.
 */
export function inEnvironment(
  { environments }: Pick<Feature, 'environments'>,
  environment: string,
): FeatureInEnvironment {
  return Object.hasOwn(environments, environment) ? (environments[environment] ?? emptyEnvironment) : emptyEnvironment;
}

/** The feature with changed settings in one environment. */
export function withEnvironment(feature: Feature, environment: string, change: Partial<FeatureInEnvironment>): Feature {
  return {
    ...feature,
    environments: { ...feature.environments, [environment]: { ...inEnvironment(feature, environment), ...change } },
  };
}

/**
 * Whether a feature is on for any user: it is enabled, and not all of its strategies are disabled. One without strategies is on for every
 * user.
 */
export function isOnInEnvironment({ enabled, strategies }: FeatureInEnvironment): boolean {
  return enabled && (strategies.length === 0 || strategies.some(({ disabled }) => !disabled));
}

/** The feature, disabled in every environment, without events. */
export function disabledEverywhere(feature: Feature): Feature {
  return {
    ...feature,
    environments: Object.fromEntries(
      Object.entries(feature.environments).map(([name, environment]) => [name, { ...environment, enabled: false }]),
    ),
  };
}

/** Fields to change; an undefined one does not change. */
export type MetadataChanges = { readonly [K in keyof FeatureFields]?: FeatureFields[K] | undefined };

/** The metadata among the members of an object, without members that are undefined. */
function pickMetadata(source: Readonly<Record<string, unknown>>): Partial<Record<keyof FeatureFields, unknown>> {
  return Object.fromEntries(
    featureFieldNames.flatMap((key) => (source[key] === undefined ? [] : [[key, source[key]]])),
  );
}

/**
 * The metadata of a document that a patch changed: a member that the patch removed has the value of a new feature. Values are not checked.
 */
export function metadataOfDocument(
  document: Readonly<Record<string, unknown>>,
): Readonly<Record<keyof FeatureFields, unknown>> {
  return { ...newFeatureMetadata, ...pickMetadata(document) };
}

/** The metadata after changes. Empty texts of fields that may be null become null. */
export function changeMetadata(changes: MetadataChanges, before: FeatureFields = newFeatureMetadata): FeatureFields {
  const after = { ...newFeatureMetadata, ...pickMetadata(before), ...pickMetadata(changes) };
  for (const name of nullableFields) after[name] ||= null;
  return after as FeatureFields;
}

const nullableFields = featureFieldNames.filter((name) => newFeatureMetadata[name] === null);

/** A feature without its environments, as it is in the replies to writes of the feature itself and in events. */
export function featureWithoutEnvironments(feature: Feature): FeatureWithoutEnvironments {
  return {
    name: feature.name,
    ...changeMetadata(feature),
    project: feature.project,
    createdAt: feature.createdAt,
    archived: feature.archivedAt !== null,
    archivedAt: feature.archivedAt,
    lastSeenAt: null,
  };
}

/** Refuses to change features of projects other than the requested one. */
export function requireFeaturesOfProject(features: readonly Feature[], project: string): void {
  const others = new Set(features.map((feature) => feature.project).filter((id) => id !== project));
  if (others.size === 0) return;
  // The words are Unleash's, also the singular.
  throw refusal(
    'InvalidOperationError',
    `The operation could not be completed. The features exist, but the provided project ids ("${shortName([...others].join(','))}") ` +
      `does not match the project provided in request URL ("${shortName(project)}").`,
  );
}
