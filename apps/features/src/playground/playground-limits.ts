import { invalidProperty } from '@bunting/contracts';
import { inEnvironment } from '../features/feature-in-environment.ts';
import type { PlaygroundContent } from './playground-content.ts';

/** The maximum number of evaluations, of features in environments for contexts, in one request. */
export const maxEvaluations = 15_000;

/**
 * The maximum total length of the strategies in a reply of the playground, which repeats them in each evaluation; in UTF-16 code units of
 * JSON.
 */
export const maxShownCharacters = 16 * 1024 * 1024;

/** @throws Refusal when there are more evaluations than one request may have */
export const requireEvaluationsWithinLimit = (evaluations: number): void => {
  if (evaluations <= maxEvaluations) return;
  throw invalidProperty(
    `The playground makes at most ${maxEvaluations} evaluations in one request, and this one asks for more: narrow projects, environments or values of the context`,
    '/body',
  );
};

/**
 * Bounds a reply that shows the settings of each feature in each environment for each context.
 * @param contexts the number of contexts
 * @throws Refusal when the settings would take more than `maxShownCharacters`
 */
export const requireShowable = (
  { features, segments }: PlaygroundContent,
  environments: readonly string[],
  contexts: number,
): void => {
  const sizeOfSegment = new Map(segments.map((segment) => [segment.id, JSON.stringify(segment.constraints).length]));
  let characters = 0;
  for (const feature of features) {
    for (const environment of environments) {
      const { strategies, variants } = inEnvironment(feature, environment);
      const segmentSizes = strategies.flatMap((strategy) => strategy.segments.map((id) => sizeOfSegment.get(id) ?? 0));
      const size = JSON.stringify([strategies, variants]).length + segmentSizes.reduce((sum, size) => sum + size, 0);
      characters += size * contexts;
      if (characters > maxShownCharacters)
        throw invalidProperty(
          'The strategies of these features are too large to be shown for each context: narrow projects, environments or values of the context',
          '/body',
        );
    }
  }
};

/**
 * The maximum number of features of one request.
 * @param evaluationsOfEach how often each of them is evaluated
 * @throws Refusal when even one feature would be evaluated too often
 */
export const maxFeatures = (evaluationsOfEach: number): number => {
  requireEvaluationsWithinLimit(evaluationsOfEach);
  return Math.floor(maxEvaluations / evaluationsOfEach);
};

/** @throws Refusal when there are more features than the limit allows */
export const requireFeaturesWithin = (content: PlaygroundContent, limit: number): void => {
  if (content.features.length > limit) requireEvaluationsWithinLimit(Number.POSITIVE_INFINITY);
};
