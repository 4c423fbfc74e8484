import type {
  Constraint,
  EventContent,
  EventType,
  FeatureLink,
  FeatureStrategy,
  FeatureVariant,
  LifecycleStage,
  StrategyVariant,
  Tag,
  UserReference,
} from '@bunting/contracts';

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
export interface Feature {
  readonly name: string;
  readonly project: string;
  readonly type: string;
  readonly description: string | null;
  readonly stale: boolean;
  readonly impressionData: boolean;
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

/** The strategies of a feature in all its environments. */
export const strategiesOf = ({ environments }: Pick<Feature, 'environments'>): readonly Strategy[] =>
  Object.values(environments).flatMap(({ strategies }) => strategies);

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
export const featureEvent = <Type extends EventType>(
  type: Type,
  feature: Pick<Feature, 'project' | 'name' | 'tags'>,
  more: Pick<DomainEvent, 'environment' | 'data' | 'preData' | 'tags'> = {},
): DomainEvent<Type> => ({ type, project: feature.project, featureName: feature.name, tags: feature.tags, ...more });
