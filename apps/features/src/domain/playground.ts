import { invalidProperty, type PlaygroundCell, type PlaygroundFeature } from '@bunting/contracts';
import {
  type EvaluatedFeature,
  type EvaluatedSegment,
  type EvaluationContext,
  evaluatorOf,
  type FeatureExplanation,
  type StrategyExplanation,
} from '@bunting/evaluation';
import type { Dependency, Feature, FeatureInEnvironment, Strategy } from './features/feature.ts';
import type { StoredSegment } from './constraints/segment.ts';
import { inEnvironment } from './strategies/strategy.ts';

type PlaygroundSegment = Pick<StoredSegment, 'id' | 'name' | 'constraints'>;

interface FeatureToEvaluate {
  readonly name: string;
  readonly project: string;
  readonly dependencies: readonly Dependency[];
  readonly environments: Readonly<Record<string, FeatureInEnvironment>>;
}

/** The features and segments that the playground evaluates. */
export interface PlaygroundContent {
  /** those of the requested environments that exist */
  readonly environments: readonly string[];
  /** by name */
  readonly features: readonly FeatureToEvaluate[];
  readonly segments: readonly PlaygroundSegment[];
}

/** The maximum number of evaluations, of features in environments for contexts, in one request. */
export const maxEvaluations = 15_000;

/** The maximum total length of the strategies in a reply of the playground, which repeats them in each evaluation. */
export const maxShownCharacters = 16 * 1024 * 1024;

type ContextValues = Readonly<Record<string, unknown>>;

const isScalar = (value: unknown): value is string | number | boolean =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';

/** The fields of a context that can be compared, and the names of those that cannot. Top-level fields win over properties. */
export const readContext = ({ properties, ...fields }: ContextValues) => {
  const areProperties = typeof properties === 'object' && properties !== null && !Array.isArray(properties);
  const entries = [...Object.entries(areProperties ? (properties as ContextValues) : {}), ...Object.entries(fields)];
  const ignored = entries.flatMap(([name, value]) => (isScalar(value) ? [] : [name]));
  if (properties !== undefined && !areProperties) ignored.push('properties');
  const scalars = entries.filter((entry): entry is [string, string | number | boolean] => isScalar(entry[1]));
  return { fields: new Map(scalars.map(([name, value]) => [name, String(value)])), ignored: [...new Set(ignored)] };
};

/**
 * Every combination of values that are separated by commas.
 * @throws Refusal when there are more than `maxEvaluations`
 */
export const combinationsOf = (fields: ReadonlyMap<string, string>): ReadonlyMap<string, string>[] => {
  const choices = [...fields].map(([name, text]) => {
    const values = [...new Set(text.split(',').map((value) => value.trim()))].filter((value) => value !== '');
    return [name, values.length === 0 ? [''] : values] as const;
  });
  const count = choices.reduce((product, [, values]) => product * values.length, 1);
  requireWithinLimit(count);
  return choices.reduce<Map<string, string>[]>(
    (combinations, [name, values]) =>
      combinations.flatMap((combination) => values.map((value) => new Map([...combination, [name, value]]))),
    [new Map()],
  );
};

/**
 * The combinations of values of each of several contexts.
 * @throws Refusal when there are more than `maxEvaluations`
 */
export const combinationsOfAll = (contexts: readonly ReadonlyMap<string, string>[]): ReadonlyMap<string, string>[] => {
  const all: ReadonlyMap<string, string>[] = [];
  for (const fields of contexts) {
    all.push(...combinationsOf(fields));
    requireWithinLimit(all.length);
  }
  return all;
};

const requireWithinLimit = (evaluations: number): void => {
  if (evaluations <= maxEvaluations) return;
  throw invalidProperty(
    `The playground makes at most ${maxEvaluations} evaluations in one request, and this one asks for more: narrow projects, environments or values of the context`,
    '/body',
  );
};

/**
 * Bounds a reply that shows the settings of each feature in each environment for each of so many contexts.
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
      const used = strategies.flatMap((strategy) => strategy.segments.map((id) => sizeOfSegment.get(id) ?? 0));
      const shown = JSON.stringify([strategies, variants]).length + used.reduce((sum, size) => sum + size, 0);
      characters += shown * contexts;
      if (characters > maxShownCharacters)
        throw invalidProperty(
          'The strategies of these features are too large to be shown for each context: narrow projects, environments or values of the context',
          '/body',
        );
    }
  }
};

/** The maximum number of features for so many evaluations of each. */
export const maxFeatures = (evaluationsOfEach: number): number => {
  requireWithinLimit(evaluationsOfEach);
  return Math.floor(maxEvaluations / evaluationsOfEach);
};

/** @throws Refusal when there are more features than the limit allows */
export const requireFeaturesWithin = (content: PlaygroundContent, limit: number): void => {
  if (content.features.length > limit) requireWithinLimit(Number.POSITIVE_INFINITY);
};

/** The content as it would be after changes to some features and segments. A null segment is deleted, and archived features are left out. */
export const withChanges = (
  content: PlaygroundContent,
  changed: { readonly features: Iterable<Feature>; readonly segments: ReadonlyMap<number, StoredSegment | null> },
): PlaygroundContent => {
  const features = new Map(content.features.map((feature) => [feature.name, feature]));
  for (const feature of changed.features) {
    if (!features.has(feature.name)) continue;
    if (feature.archivedAt === null) features.set(feature.name, feature);
    else features.delete(feature.name);
  }
  const segments = new Map(content.segments.map((segment) => [segment.id, segment]));
  for (const [id, segment] of changed.segments) {
    if (segment === null) segments.delete(id);
    else segments.set(id, segment);
  }
  return { ...content, features: [...features.values()], segments: [...segments.values()] };
};

const evaluated = (
  { name, dependencies }: FeatureToEvaluate,
  { enabled, strategies, variants }: FeatureInEnvironment,
): EvaluatedFeature => ({
  name,
  enabled,
  dependencies,
  variants,
  strategies: strategies.filter(({ disabled }) => !disabled),
});

/** The features as SDKs of an environment evaluate them. */
export const evaluatedIn = ({ features }: PlaygroundContent, environment: string): EvaluatedFeature[] =>
  features.map((feature) => evaluated(feature, inEnvironment(feature, environment)));

const offCell: PlaygroundCell = { isEnabled: false, variant: null, isUnknown: false };

/** Evaluates features of one environment without giving reasons. A feature that is not there is off. */
export const cellEvaluator = (content: PlaygroundContent, environment: string) => {
  const evaluator = evaluatorOf(evaluatedIn(content, environment), content.segments);
  return (name: string, context: EvaluationContext): PlaygroundCell => {
    const explanation = evaluator.explain(name, context);
    if (explanation === undefined) return offCell;
    const { enabled, variant, result } = explanation;
    return { isEnabled: enabled, variant: variant.enabled ? variant.name : null, isUnknown: result === 'unknown' };
  };
};

/** Evaluates the features of one environment, or those with the names, for one context after the other. */
export const playgroundOf = (content: PlaygroundContent, environment: string, names?: ReadonlySet<string>) => {
  const { features, segments } = content;
  const featuresWithSettings = features
    .filter(({ name }) => names?.has(name) ?? true)
    .map((feature) => ({ feature, settings: inEnvironment(feature, environment) }));
  const evaluator = evaluatorOf(evaluatedIn(content, environment), segments satisfies readonly EvaluatedSegment[]);
  const segmentsById = new Map(segments.map((segment) => [segment.id, segment]));

  const shownStrategy = (
    { project, name }: FeatureToEvaluate,
    strategy: Strategy,
    explanation: StrategyExplanation | undefined,
  ): PlaygroundFeature['strategies']['data'][number] => ({
    id: strategy.id,
    name: strategy.name,
    title: strategy.title,
    disabled: strategy.disabled,
    parameters: strategy.parameters,
    constraints: strategy.constraints.map((constraint, nth) => ({
      ...constraint,
      values: [...(constraint.values ?? [])],
      result: explanation?.constraints[nth] ?? false,
    })),
    segments: strategy.segments.flatMap((id, nth) => {
      const segment = segmentsById.get(id);
      if (segment === undefined) return [];
      const results = explanation?.segments[nth];
      return {
        id,
        name: segment.name,
        result: results?.result ?? false,
        constraints: segment.constraints.map((constraint, index) => ({
          ...constraint,
          values: [...(constraint.values ?? [])],
          result: results?.constraints[index] ?? false,
        })),
      };
    }),
    result:
      explanation === undefined
        ? { evaluationStatus: 'unevaluated', enabled: false }
        : {
            evaluationStatus: explanation.isEvaluable ? 'complete' : 'incomplete',
            enabled: explanation.result,
            ...(explanation.rollout === undefined ? {} : { rollout: explanation.rollout }),
            ...(explanation.variant === undefined
              ? {}
              : { variant: explanation.variant as PlaygroundFeature['variant'] }),
          },
    links: {
      edit: `/projects/${encodeURIComponent(project)}/features/${encodeURIComponent(name)}/strategies/edit?environmentId=${encodeURIComponent(environment)}&strategyId=${strategy.id}`,
    },
  });

  return {
    /** Every feature evaluated for one context, by name. */
    evaluate: (context: EvaluationContext): PlaygroundFeature[] =>
      featuresWithSettings.map(({ feature, settings }) => {
        const explanation = evaluator.explain(feature.name, context) as FeatureExplanation;
        const explanations = explanation.strategies.values();
        return {
          name: feature.name,
          projectId: feature.project,
          isEnabled: explanation.enabled,
          isEnabledInCurrentEnvironment: settings.enabled,
          hasUnsatisfiedDependency: explanation.hasUnsatisfiedDependency,
          dependencies: feature.dependencies.map(({ feature: parent, enabled = true, variants = [] }, nth) => ({
            feature: parent,
            enabled,
            variants: [...variants],
            result: explanation.dependencies[nth] ?? false,
          })),
          variant: { ...explanation.variant, feature_enabled: explanation.enabled } as PlaygroundFeature['variant'],
          variants: [...settings.variants],
          strategies: {
            result: explanation.result,
            data: settings.strategies.map((strategy) =>
              shownStrategy(feature, strategy, strategy.disabled ? undefined : explanations.next().value),
            ),
          },
        };
      }),
  };
};
