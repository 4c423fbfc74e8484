import { invalidProperty, isEqualContent } from '@bunting/contracts';
import { validateConstraints } from './constraint.ts';
import type { Feature, Strategy } from '../features/feature.ts';
import { segmentNotFound, shortName } from '../refusals.ts';
import type { ProjectContext } from '../projects/project-context.ts';
import { fixedResourceLimits } from '../fixed-resource-limits.ts';
import { normalizeStrategyVariants, type WeightMode } from '../variants/normalize-variants.ts';
import type { StrategyContent } from './strategy.ts';

/**
 * Validates the segments of a strategy, and returns their ids without duplicates. Each new one must exist, and the project must be allowed
 * to use it.
 */
export const normalizeSegmentIds = (
  segments: readonly number[],
  {
    before,
    project,
    projectContext,
    path,
  }: { before: readonly number[]; project: string; projectContext: ProjectContext; path: string },
): readonly number[] => {
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

/** Validates the content of a strategy and returns its stored form. */
export const normalizeStrategy = (
  content: StrategyContent,
  { project, projectContext, before, path, weightMode }: StrategyValidationOptions,
): StrategyContent => {
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
};

type Parameters = StrategyContent['parameters'];

/** The parameters of a new strategy. A gradual rollout needs three, without which it is off, or divides the users of all features alike. */
export const withDefaultParameters = (
  { name, parameters }: Pick<StrategyContent, 'name' | 'parameters'>,
  feature: Pick<Feature, 'name'>,
  { defaultStickiness }: Pick<ProjectContext, 'defaultStickiness'>,
): Parameters =>
  name === 'flexibleRollout'
    ? {
        ...parameters,
        rollout: parameters['rollout'] ?? '100',
        stickiness: parameters['stickiness'] || defaultStickiness || 'default',
        groupId: parameters['groupId'] || feature.name,
      }
    : parameters;

const rolloutParameters = ['rollout', 'stickiness', 'groupId'];

/**
 * The parameters of a strategy after an edit, in which those that decide who is in a gradual rollout stay where the edit left them out or
 * empty: otherwise users would move whom nobody meant to move. A strategy that becomes a gradual rollout gets the defaults of a new one.
 */
export const keepRollout = (
  before: Strategy,
  { name, parameters }: Pick<StrategyContent, 'name' | 'parameters'>,
  feature: Pick<Feature, 'name'>,
  projectContext: Pick<ProjectContext, 'defaultStickiness'>,
): Parameters => {
  if (name !== 'flexibleRollout') return parameters;
  const stored = rolloutParameters.flatMap((key): [string, string][] => {
    const value = before.parameters[key];
    return value === undefined || parameters[key] ? [] : [[key, value]];
  });
  const kept = { ...parameters, ...Object.fromEntries(stored) };
  return name === before.name ? kept : withDefaultParameters({ name, parameters: kept }, feature, projectContext);
};

/**
 * The parameters of a strategy after an update. Parameters that the update leaves out stay; with a new type of strategy, those of the type
 * before are gone.
 */
export const updatedParameters = (
  before: Strategy,
  { name, parameters }: { readonly name: string; readonly parameters: Parameters | undefined },
  feature: Pick<Feature, 'name'>,
  projectContext: Pick<ProjectContext, 'defaultStickiness'>,
): Parameters => {
  const merged = name === before.name ? { ...before.parameters, ...parameters } : (parameters ?? before.parameters);
  return keepRollout(before, { name, parameters: merged }, feature, projectContext);
};
