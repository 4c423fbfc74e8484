import type { PlaygroundCell, PlaygroundFeature } from '@bunting/contracts';
import {
  type EvaluableSegment,
  type EvaluationContext,
  compileEvaluator,
  type FeatureExplanation,
  type StrategyExplanation,
} from '@bunting/evaluation';
import { type Strategy, inEnvironment, isOnInEnvironment } from '../features/feature.ts';
import { type PlaygroundFeatureContent, type PlaygroundContent, toEvaluableFeatures } from './playground.ts';

const offCell: PlaygroundCell = { isEnabled: false, variant: null, isUnknown: false };

/** Evaluates features of one environment without giving reasons. A feature that does not exist is off. */
export function tableCellEvaluator(content: PlaygroundContent, environment: string) {
  const evaluator = compileEvaluator(toEvaluableFeatures(content, environment), content.segments);
  return (name: string, context: EvaluationContext): PlaygroundCell => {
    const explanation = evaluator.explain(name, context);
    if (explanation === undefined) return offCell;
    const { enabled, variant, result } = explanation;
    return { isEnabled: enabled, variant: variant.enabled ? variant.name : null, isUnknown: result === 'unknown' };
  };
}

/** Evaluates the features of one environment, or only those with the names, for any number of contexts. */
export function playgroundEvaluator(content: PlaygroundContent, environment: string, names?: ReadonlySet<string>) {
  const { features, segments } = content;
  const featuresWithSettings = features
    .filter(({ name }) => names?.has(name) ?? true)
    .map((feature) => ({ feature, settings: inEnvironment(feature, environment) }));
  const evaluator = compileEvaluator(
    toEvaluableFeatures(content, environment),
    segments satisfies readonly EvaluableSegment[],
  );
  const segmentsById = new Map(segments.map((segment) => [segment.id, segment]));

  const strategyResult = (
    { project, name }: PlaygroundFeatureContent,
    strategy: Strategy,
    explanation: StrategyExplanation | undefined,
  ): PlaygroundFeature['strategies']['data'][number] => ({
    id: strategy.id,
    name: strategy.name,
    title: strategy.title,
    disabled: strategy.disabled,
    parameters: strategy.parameters,
    constraints: strategy.constraints.map((constraint, index) => ({
      ...constraint,
      values: [...(constraint.values ?? [])],
      result: explanation?.constraints[index] ?? false,
    })),
    segments: strategy.segments.flatMap((id, index) => {
      const segment = segmentsById.get(id);
      if (segment === undefined) return [];
      const results = explanation?.segments[index];
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
              : {
                  variant: explanation.variant as PlaygroundFeature['variant'],
                  variants: [...strategy.variants],
                }),
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
        const active = settings.strategies.filter(({ disabled }) => !disabled);
        const deciding = active[explanation.strategies.findIndex(({ result }) => result === true)];
        return {
          name: feature.name,
          projectId: feature.project,
          isEnabled: explanation.enabled,
          isEnabledInCurrentEnvironment: settings.enabled,
          hasUnsatisfiedDependency: explanation.hasUnsatisfiedDependency,
          dependencies: feature.dependencies.map(({ feature: parent, enabled = true, variants = [] }, index) => ({
            feature: parent,
            enabled,
            variants: [...variants],
            result: explanation.dependencies[index] ?? false,
          })),
          variant: { ...explanation.variant, feature_enabled: explanation.enabled } as PlaygroundFeature['variant'],
          variants: [...(deciding?.variants.length ? deciding.variants : settings.variants)],
          strategies: {
            // Without disabled strategies the evaluation sees none, which would match every user.
            result: settings.enabled && !isOnInEnvironment(settings) ? false : explanation.result,
            data: settings.strategies.map((strategy) =>
              strategyResult(feature, strategy, strategy.disabled ? undefined : explanations.next().value),
            ),
          },
        };
      }),
  };
}
