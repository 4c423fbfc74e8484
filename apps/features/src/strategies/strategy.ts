import { invalidProperty, isEqualContent } from '@bunting/contracts';
import {
  type Feature,
  inEnvironment,
  type PublicStrategy,
  type Strategy,
  withEnvironment,
} from '../features/feature.ts';
import { fixedResourceLimits } from '../names.ts';
import type { ProjectContext } from '../projects/project-context.ts';
import { segmentNotFound, shortName, strategyNotFound } from '../refusals.ts';
import { normalizeStrategyVariants, type WeightMode } from '../variants/variant.ts';
import { validateConstraints } from './constraint.ts';

/** The environment and the id that identify a strategy of a feature. */
export interface StrategyRef {
  readonly environment: string;
  readonly strategyId: string;
}

/** The content of a strategy, without its id and sort order. */
export type StrategyContent = Omit<Strategy, 'id' | 'sortOrder'>;

/** The content of a new strategy, in which properties may be left out. */
export type RequestedStrategyContent = Pick<StrategyContent, 'name'> & {
  readonly [Property in keyof StrategyContent]?: StrategyContent[Property] | null | undefined;
};

/** The content of a new strategy with the defaults of omitted properties, except those of its parameters. */
export function newStrategyContent({
  name,
  title,
  disabled,
  constraints,
  parameters,
  variants,
  segments,
}: RequestedStrategyContent): StrategyContent {
  return {
    name,
    title: title ?? null,
    disabled: disabled ?? false,
    constraints: constraints ?? [],
    parameters: parameters ?? {},
    variants: variants ?? [],
    segments: segments ?? [],
  };
}

/** A strategy as clients see it. */
export function publicStrategy(strategy: Strategy): PublicStrategy {
  return {
    id: strategy.id,
    name: strategy.name,
    title: strategy.title,
    disabled: strategy.disabled,
    constraints: [...strategy.constraints],
    parameters: { ...strategy.parameters },
    variants: [...strategy.variants],
    sortOrder: strategy.sortOrder,
    segments: [...strategy.segments],
  };
}

/** The strategy with that id in that environment. @throws Refusal 404, also for a strategy of another environment */
export function strategyOf(feature: Feature, { environment, strategyId }: StrategyRef): Strategy {
  const strategy = inEnvironment(feature, environment).strategies.find(({ id }) => id === strategyId);
  if (strategy === undefined) throw strategyNotFound(strategyId);
  return strategy;
}

function bySortOrder(strategies: readonly Strategy[]): readonly Strategy[] {
  return strategies.toSorted((one, other) => one.sortOrder - other.sortOrder);
}

/** The feature with these strategies in the environment, by sort order. */
export function withStrategies(feature: Feature, environment: string, strategies: readonly Strategy[]): Feature {
  return withEnvironment(feature, environment, { strategies: bySortOrder(strategies) });
}

/** The feature with the strategy of the same id replaced. */
export function replaceStrategy(feature: Feature, environment: string, strategy: Strategy): Feature {
  return withStrategies(
    feature,
    environment,
    inEnvironment(feature, environment).strategies.map((other) => (other.id === strategy.id ? strategy : other)),
  );
}

/**
 * Validates the segments of a strategy, and returns their ids without duplicates. Each new one must exist, and the project must be allowed
 * to use it.
 */
export function normalizeSegmentIds(
  segments: readonly number[],
  {
    before,
    project,
    projectContext,
    path,
  }: { before: readonly number[]; project: string; projectContext: ProjectContext; path: string },
): readonly number[] {
  const maxSegments = fixedResourceLimits.segmentsPerStrategy;
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
}

export interface StrategyValidationOptions {
  readonly project: string;
  readonly projectContext: ProjectContext;
  /** the strategy that is replaced; unchanged parts are not validated */
  readonly before?: Strategy | undefined;
  /** the JSON pointer of the strategy in the request */
  readonly path: string;
  readonly weightMode?: WeightMode;
}

/** Validates the content of a strategy and returns its stored form. */
export function normalizeStrategy(
  content: StrategyContent,
  { project, projectContext, before, path, weightMode }: StrategyValidationOptions,
): StrategyContent {
  const { name, title, disabled, parameters } = content;
  if (name !== before?.name && !projectContext.strategyTypes.has(name)) {
    throw invalidProperty(`Could not find strategy type with name ${shortName(name)}`, `${path}/name`);
  }
  const variants = isEqualContent({ variants: content.variants }, { variants: before?.variants })
    ? (before?.variants ?? [])
    : normalizeStrategyVariants(content.variants, `${path}/variants`, weightMode);
  const constraints = validateConstraints(content.constraints, {
    projectContext,
    before: before?.constraints ?? [],
    path: `${path}/constraints`,
  });
  const segments = normalizeSegmentIds(content.segments, {
    before: before?.segments ?? [],
    project,
    projectContext,
    path: `${path}/segments`,
  });
  return { name, title, disabled, constraints, parameters, variants, segments };
}

type Parameters = StrategyContent['parameters'];

/** The parameters of a new strategy. A gradual rollout needs three, without which it is off, or divides the users of all features alike. */
export function withDefaultParameters(
  { name, parameters }: Pick<StrategyContent, 'name' | 'parameters'>,
  feature: Pick<Feature, 'name'>,
  { defaultStickiness }: Pick<ProjectContext, 'defaultStickiness'>,
): Parameters {
  return name === 'flexibleRollout'
    ? {
        ...parameters,
        rollout: parameters['rollout'] ?? '100',
        stickiness: parameters['stickiness'] || defaultStickiness || 'default',
        groupId: parameters['groupId'] || feature.name,
      }
    : parameters;
}

const rolloutParameters = ['rollout', 'stickiness', 'groupId'];

/**
 * The parameters of a strategy after an edit, in which those that decide who is in a gradual rollout stay where the edit left them out or
 * empty: otherwise users would move whom nobody meant to move. A strategy that becomes a gradual rollout gets the defaults of a new one.
 */
export function keepRollout(
  before: Strategy,
  { name, parameters }: Pick<StrategyContent, 'name' | 'parameters'>,
  feature: Pick<Feature, 'name'>,
  projectContext: Pick<ProjectContext, 'defaultStickiness'>,
): Parameters {
  if (name !== 'flexibleRollout') return parameters;
  const stored = rolloutParameters.flatMap((key): [string, string][] => {
    const value = before.parameters[key];
    return value === undefined || parameters[key] ? [] : [[key, value]];
  });
  const kept = { ...parameters, ...Object.fromEntries(stored) };
  return name === before.name ? kept : withDefaultParameters({ name, parameters: kept }, feature, projectContext);
}

/**
 * The parameters of a strategy after an update. Parameters that the update leaves out stay; with a new type of strategy, those of the type
 * before are gone.
 */
export function updatedParameters(
  before: Strategy,
  { name, parameters }: { readonly name: string; readonly parameters: Parameters | undefined },
  feature: Pick<Feature, 'name'>,
  projectContext: Pick<ProjectContext, 'defaultStickiness'>,
): Parameters {
  const merged = name === before.name ? { ...before.parameters, ...parameters } : (parameters ?? before.parameters);
  return keepRollout(before, { name, parameters: merged }, feature, projectContext);
}
