import {
  type CreateStrategy,
  FeatureStrategy,
  invalidProperty,
  isEqual,
  type JsonPatch,
  lenientSchema,
  limitExceeded,
} from '@bunting/contracts';
import { parse } from '@bunting/contracts/validation';
import { validateConstraints } from '../constraints/constraint.ts';
import {
  type Decision,
  type Feature,
  type FeatureInEnvironment,
  type PublicStrategy,
  type Strategy,
  featureEvent,
} from '../features/feature.ts';
import { type PatchableMembers, applyPatch } from '../json-patch/json-patch.ts';
import { segmentNotFound, shortName, strategyNotFound } from '../refusals.ts';
import { hasEnvironment, type ProjectContext } from '../project-context.ts';
import { resourceLimits, maxSortOrder } from '../resource-limits.ts';
import { normalizeStrategyVariants, type WeightMode } from '../variants/variants.ts';

/** Where a strategy is found within its feature. */
export interface StrategyRef {
  readonly environment: string;
  readonly strategyId: string;
}

/** The content of a strategy, without its id and sort order. */
export type StrategyContent = Omit<Strategy, 'id' | 'sortOrder'>;

export const emptyEnvironment: FeatureInEnvironment = { enabled: false, strategies: [], variants: [] };

/** The settings of a feature in one environment, whatever its name; disabled and empty where none were stored. */
export const inEnvironment = (
  { environments }: Pick<Feature, 'environments'>,
  environment: string,
): FeatureInEnvironment =>
  Object.hasOwn(environments, environment) ? (environments[environment] ?? emptyEnvironment) : emptyEnvironment;

/** The feature with changed settings in one environment. */
export const withEnvironment = (
  feature: Feature,
  environment: string,
  change: Partial<FeatureInEnvironment>,
): Feature => ({
  ...feature,
  environments: { ...feature.environments, [environment]: { ...inEnvironment(feature, environment), ...change } },
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

/** The strategy with that id in that very environment; one of another environment is not found. */
export const strategyOf = (feature: Feature, { environment, strategyId }: StrategyRef): Strategy => {
  const strategy = inEnvironment(feature, environment).strategies.find(({ id }) => id === strategyId);
  if (strategy === undefined) throw strategyNotFound(strategyId);
  return strategy;
};

const sorted = (strategies: readonly Strategy[]): readonly Strategy[] =>
  strategies.toSorted((one, other) => one.sortOrder - other.sortOrder);

/** The feature with these strategies in the environment, in their order. */
export const withStrategies = (feature: Feature, environment: string, strategies: readonly Strategy[]): Feature =>
  withEnvironment(feature, environment, { strategies: sorted(strategies) });

/** The feature with the strategy of the same id replaced. */
export const replaceStrategy = (feature: Feature, environment: string, strategy: Strategy): Feature =>
  withStrategies(
    feature,
    environment,
    inEnvironment(feature, environment).strategies.map((other) => (other.id === strategy.id ? strategy : other)),
  );

/** The segments that a strategy is to use: each exists, and its project may use it. */
export const validateSegmentIds = (
  segments: readonly number[],
  {
    before,
    project,
    projectContext,
    path,
  }: { before: readonly number[]; project: string; projectContext: ProjectContext; path: string },
): readonly number[] => {
  const maxSegments = resourceLimits.segmentsPerStrategy;
  if (segments.length > Math.max(maxSegments, before.length)) {
    throw invalidProperty(`Strategies may not have more than ${maxSegments} segments`, path);
  }
  for (const [index, id] of segments.entries()) {
    if (before.includes(id)) continue;
    const segment = projectContext.segments.get(id);
    if (segment === undefined) throw segmentNotFound(id);
    if (segment.project !== null && segment.project !== project) {
      throw invalidProperty(
        `The segments ${shortName(segment.name)} with id ${id} does not belong to project "${project}"`,
        `${path}/${index}`,
      );
    }
  }
  return [...new Set(segments)];
};

export interface StrategyValidationOptions {
  readonly project: string;
  readonly projectContext: ProjectContext;
  /** the strategy that is replaced; unchanged parts are not validated */
  readonly before?: Strategy | undefined;
  /** the JSON pointer of the strategy in the request */
  readonly path: string;
  readonly weightMode?: WeightMode;
}

/** The validated content of a strategy in its stored form. */
export const normalizeStrategy = (
  wanted: StrategyContent,
  { project, projectContext, before, path, weightMode }: StrategyValidationOptions,
): StrategyContent => {
  const { name, title, disabled, parameters } = wanted;
  if (name !== before?.name && !projectContext.strategyTypes.has(name)) {
    throw invalidProperty(`Could not find strategy type with name ${shortName(name)}`, `${path}/name`);
  }
  const variants = isEqual(wanted.variants, before?.variants)
    ? wanted.variants
    : normalizeStrategyVariants(wanted.variants, `${path}/variants`, weightMode);
  const constraints = validateConstraints(wanted.constraints, {
    projectContext,
    before: before?.constraints ?? [],
    path: `${path}/constraints`,
  });
  const segments = validateSegmentIds(wanted.segments, {
    before: before?.segments ?? [],
    project,
    projectContext,
    path: `${path}/segments`,
  });
  return { name, title, disabled, constraints, parameters, variants, segments };
};

/** Adds the default parameters of `flexibleRollout`; an existing rollout percentage stays. */
export const withDefaultParameters = (
  name: string,
  parameters: Readonly<Record<string, string>>,
  feature: Pick<Feature, 'name'>,
  projectContext: ProjectContext,
  before?: Strategy,
): Readonly<Record<string, string>> =>
  name === 'flexibleRollout'
    ? {
        ...parameters,
        rollout: parameters['rollout'] ?? before?.parameters['rollout'] ?? '100',
        stickiness: parameters['stickiness'] || projectContext.defaultStickiness || 'default',
        groupId: parameters['groupId'] || feature.name,
      }
    : parameters;

/** Turns off a feature that is enabled without an active strategy, because SDKs evaluate such a feature as on for all users. */
export const disableIfNoActiveStrategy = (
  feature: Feature,
  environment: string,
): Decision<'feature-environment-disabled'> => {
  const { enabled, strategies } = inEnvironment(feature, environment);
  if (!enabled || strategies.some(({ disabled }) => !disabled)) return { feature, events: [] };
  return {
    feature: withEnvironment(feature, environment, { enabled: false }),
    events: [featureEvent('feature-environment-disabled', feature, { environment })],
  };
};

/** Replaces the content of a strategy; its id and sort order stay. Emits nothing when the content is the same. */
export const changeStrategy = (
  feature: Feature,
  ref: StrategyRef,
  wanted: StrategyContent,
  projectContext: ProjectContext,
  path: string,
): Decision => {
  const before = strategyOf(feature, ref);
  const content = normalizeStrategy(wanted, { project: feature.project, projectContext, before, path });
  const after: Strategy = { ...content, id: before.id, sortOrder: before.sortOrder };
  if (isEqual(after, before)) return { feature, events: [] };
  const preData = publicStrategy(before);
  const data = publicStrategy(after);
  return {
    feature: replaceStrategy(feature, ref.environment, after),
    events: [featureEvent('feature-strategy-update', feature, { environment: ref.environment, preData, data })],
  };
};

/** Replaces the content of a strategy, and turns the feature off if that leaves it without an active strategy. */
export const changeStrategyAndDisableIfInactive = (
  feature: Feature,
  ref: StrategyRef,
  wanted: StrategyContent,
  projectContext: ProjectContext,
  path: string,
): Decision => {
  const decision = changeStrategy(feature, ref, wanted, projectContext, path);
  if (decision.feature === feature) return decision;
  const { feature: after, events } = disableIfNoActiveStrategy(decision.feature, ref.environment);
  return { feature: after, events: [...decision.events, ...events] };
};

const patchable: PatchableMembers = {
  members: new Set(Object.keys(FeatureStrategy.properties)),
  maps: new Set(['parameters']),
};

/**
 * Patches one strategy. A patch cannot change its id, environment and sort order. A title, settings or segments that the patch removes
 * do not change. The feature is turned off if no active strategy remains.
 */
export const patchStrategy = (
  feature: Feature,
  ref: StrategyRef,
  patch: JsonPatch,
  projectContext: ProjectContext,
): Decision => {
  const before = strategyOf(feature, ref);
  const document = parse(lenientSchema(FeatureStrategy), applyPatch(publicStrategy(before), patch, patchable));
  const wanted: StrategyContent = {
    name: document.name,
    title: document.title ?? before.title,
    disabled: document.disabled ?? before.disabled,
    constraints: document.constraints ?? [],
    parameters: document.parameters ?? before.parameters,
    variants: document.variants ?? [],
    segments: document.segments ?? before.segments,
  };
  return changeStrategyAndDisableIfInactive(feature, ref, wanted, projectContext, '');
};

/** Whether a feature has as many strategies in an environment as the limit allows. */
export const hasMaxStrategies = (feature: Feature, environment: string): boolean =>
  inEnvironment(feature, environment).strategies.length >= resourceLimits.strategiesPerEnvironment;

/** Adds a strategy to a feature in an environment of its project, after the existing ones unless it has a sort order. The feature is not enabled. */
export const addStrategy = (
  feature: Feature,
  environment: string,
  create: CreateStrategy,
  id: string,
  projectContext: ProjectContext,
  path = '/body',
): Decision => {
  if (!hasEnvironment(projectContext, environment)) {
    throw invalidProperty('You have not added the current environment to the project', '/params/environment');
  }
  const { strategies } = inEnvironment(feature, environment);
  if (hasMaxStrategies(feature, environment))
    throw limitExceeded('strategy', resourceLimits.strategiesPerEnvironment, path);
  const { name, title, disabled, constraints, parameters, variants, segments, sortOrder } = create;
  const wanted: StrategyContent = {
    name,
    title: title ?? null,
    disabled: disabled ?? false,
    constraints: constraints ?? [],
    parameters: withDefaultParameters(name, parameters ?? {}, feature, projectContext),
    variants: variants ?? [],
    segments: segments ?? [],
  };
  const strategy: Strategy = {
    ...normalizeStrategy(wanted, { project: feature.project, projectContext, path }),
    id,
    sortOrder: sortOrder ?? Math.min(Math.max(-1, ...strategies.map((other) => other.sortOrder)) + 1, maxSortOrder),
  };
  return {
    feature: withStrategies(feature, environment, [...strategies, strategy]),
    events: [featureEvent('feature-strategy-add', feature, { environment, data: publicStrategy(strategy) })],
  };
};

/** Takes a strategy away from a feature, and leaves the feature on even if it was the last one. */
export const removeStrategyOnly = (feature: Feature, ref: StrategyRef): Decision => {
  const strategy = strategyOf(feature, ref);
  const { strategies } = inEnvironment(feature, ref.environment);
  return {
    feature: withEnvironment(feature, ref.environment, {
      strategies: strategies.filter((other) => other !== strategy),
    }),
    events: [
      featureEvent('feature-strategy-remove', feature, {
        environment: ref.environment,
        preData: publicStrategy(strategy),
      }),
    ],
  };
};

/** Removes a strategy from a feature. Without an active strategy left, the feature is disabled first. */
export const removeStrategy = (feature: Feature, ref: StrategyRef): Decision => {
  const dropped = removeStrategyOnly(feature, ref);
  const { feature: after, events } = disableIfNoActiveStrategy(dropped.feature, ref.environment);
  return { feature: after, events: [...events, ...dropped.events] };
};
