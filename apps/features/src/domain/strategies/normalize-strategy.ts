import { invalidProperty, isEqual } from '@bunting/contracts';
import { validateConstraints } from '../constraints/constraint.ts';
import type { Feature, Strategy } from '../features/feature.ts';
import { segmentNotFound, shortName } from '../refusals.ts';
import type { ProjectContext } from '../project-context.ts';
import { resourceLimits } from '../resource-limits.ts';
import { normalizeStrategyVariants, type WeightMode } from '../variants/variants.ts';
import type { StrategyContent } from './strategy.ts';

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
