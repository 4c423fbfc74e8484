import { invalidProperty, isEqual } from '@bunting/contracts';
import { validateConstraints } from './constraint.ts';
import type { Feature, Strategy } from '../features/feature.ts';
import { segmentNotFound, shortName } from '../refusals.ts';
import type { ProjectContext } from '../project-context.ts';
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
  const variants = isEqual(content.variants, before?.variants)
    ? content.variants
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

/** Adds the default parameters of `flexibleRollout`; an existing rollout percentage stays. */
export const withDefaultParameters = (
  { name, parameters }: Pick<StrategyContent, 'name' | 'parameters'>,
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
