import { compileConstraint, type EvaluatedConstraint } from './constraint.ts';
import type { EvaluationContext, Predicate } from './evaluation-context.ts';
import { compileActivation, isInRollout, type Rollout } from './strategy.ts';
import { type EvaluatedVariant, selectVariant } from './variant.ts';

export interface EvaluatedStrategy {
  readonly name: string;
  readonly parameters?: Readonly<Record<string, string | undefined>> | undefined;
  readonly constraints?: readonly EvaluatedConstraint[] | undefined;
  readonly segments?: readonly number[] | undefined;
  readonly variants?: readonly EvaluatedVariant[] | undefined;
}

/** A feature as SDKs receive it. */
export interface EvaluatedFeature {
  readonly name: string;
  readonly enabled: boolean;
  readonly impressionData?: boolean | undefined;
  readonly strategies?: readonly EvaluatedStrategy[] | undefined;
  readonly variants?: readonly EvaluatedVariant[] | undefined;
  readonly dependencies?:
    | readonly {
        readonly feature: string;
        readonly enabled?: boolean | undefined;
        readonly variants?: readonly string[] | undefined;
      }[]
    | undefined;
}

export interface EvaluatedSegment {
  readonly id: number;
  readonly constraints: readonly EvaluatedConstraint[];
}

/** The variant that a user gets. */
export interface Variant {
  readonly name: string;
  readonly enabled: boolean;
  readonly payload?: EvaluatedVariant['payload'];
}

export interface Evaluation {
  readonly enabled: boolean;
  readonly variant: Variant;
}

/** Why a strategy is on or off for a user. */
export interface StrategyExplanation {
  /** `unknown` where constraints and segments match, and only the application can evaluate the strategy type */
  readonly result: boolean | 'unknown';
  /** whether the server can evaluate this strategy type */
  readonly isEvaluable: boolean;
  /** by the order of the strategy's constraints */
  readonly constraints: readonly boolean[];
  /** a segment that does not exist matches no user */
  readonly segments: readonly {
    readonly id: number;
    readonly result: boolean;
    readonly constraints: readonly boolean[];
  }[];
  /** of a gradual rollout */
  readonly rollout?: Rollout;
  /** the variant that the strategy gives, if it is on and has any */
  readonly variant?: Variant;
}

/** Why a feature is on or off for a user. */
export interface FeatureExplanation extends Evaluation {
  readonly hasUnsatisfiedDependency: boolean;
  /** the strategies together: `true` where one is on or there is none, `unknown` where none is on and one is unknown */
  readonly result: boolean | 'unknown';
  /** by the order of the feature's strategies */
  readonly strategies: readonly StrategyExplanation[];
}

/** The evaluations of one user so far: a parent is evaluated once for all of its children, also where its rollout is random. */
type EvaluationCache = Map<string, Evaluation>;

const noVariant: Variant = { name: 'disabled', enabled: false };
const off: Evaluation = { enabled: false, variant: noVariant };

const toVariant = ({ name, payload }: EvaluatedVariant): Variant =>
  payload === undefined ? { name, enabled: true } : { name, enabled: true, payload };

/** @param segmentConstraints the constraints of a segment; undefined where there is no such segment */
const compileStrategy = (
  { name, parameters = {}, constraints = [], segments = [], variants = [] }: EvaluatedStrategy,
  feature: string,
  segmentConstraints: (segment: number) => readonly Predicate[] | undefined,
) => {
  const own = constraints.map(compileConstraint);
  const bySegment = segments.map((id) => ({ id, constraints: segmentConstraints(id) }));
  const conditions = [...own, ...bySegment.flatMap((segment) => segment.constraints ?? [(): boolean => false])];
  const activation = compileActivation(name, parameters, feature);
  const stickiness = variants[0]?.stickiness || parameters['stickiness'] || 'default';
  const groupId = parameters['groupId'] || feature;
  const variantFor = (context: EvaluationContext): Variant | undefined => {
    const variant = selectVariant(variants, groupId, stickiness, context);
    return variant === undefined ? undefined : toVariant(variant);
  };
  return {
    isOn: (context: EvaluationContext): boolean =>
      activation !== undefined && conditions.every((holds) => holds(context)) && activation.isActive(context),
    variantFor,
    explain: (context: EvaluationContext): StrategyExplanation => {
      const constraintResults = own.map((holds) => holds(context));
      const segmentResults = bySegment.map(({ id, constraints }) => {
        const results = (constraints ?? []).map((holds) => holds(context));
        return { id, result: constraints !== undefined && results.every(Boolean), constraints: results };
      });
      const matches = constraintResults.every(Boolean) && segmentResults.every(({ result }) => result);
      const rollout = activation?.rolloutFor?.(context);
      const isActive = rollout === undefined ? activation?.isActive(context) : isInRollout(rollout);
      const result = matches && (isActive ?? 'unknown');
      const variant = result === true ? variantFor(context) : undefined;
      return {
        result,
        isEvaluable: activation !== undefined,
        constraints: constraintResults,
        segments: segmentResults,
        ...(rollout === undefined ? {} : { rollout }),
        ...(variant === undefined ? {} : { variant }),
      };
    },
  };
};
type CompiledStrategy = ReturnType<typeof compileStrategy>;

const resultOf = (strategies: readonly StrategyExplanation[]): boolean | 'unknown' => {
  if (strategies.length === 0 || strategies.some(({ result }) => result === true)) return true;
  return strategies.some(({ result }) => result === 'unknown') && 'unknown';
};

/** Compiles features for evaluation as Unleash's SDKs do it, by their common client specification. */
export const evaluatorOf = (features: readonly EvaluatedFeature[], segments: readonly EvaluatedSegment[] = []) => {
  const constraintsBySegment = new Map(segments.map(({ id, constraints }) => [id, constraints.map(compileConstraint)]));
  const byName = new Map(features.map((feature) => [feature.name, feature]));
  /** by feature, compiled when it is first evaluated */
  const compiled = new Map<EvaluatedFeature, readonly CompiledStrategy[]>();
  const strategiesOf = (feature: EvaluatedFeature): readonly CompiledStrategy[] => {
    let strategies = compiled.get(feature);
    if (strategies === undefined) {
      strategies = (feature.strategies ?? []).map((strategy) =>
        compileStrategy(strategy, feature.name, (id) => constraintsBySegment.get(id)),
      );
      compiled.set(feature, strategies);
    }
    return strategies;
  };

  const areDependenciesSatisfied = (
    { dependencies = [] }: EvaluatedFeature,
    context: EvaluationContext,
    cache: EvaluationCache,
  ): boolean =>
    dependencies.every(({ feature: parent, enabled: mustBeOn = true, variants = [] }) => {
      const found = byName.get(parent);
      // A parent must not have parents itself. This also ends the evaluation of circular dependencies.
      if (found === undefined || (found.dependencies ?? []).length > 0) return false;
      const { enabled, variant } = evaluateOnce(parent, context, cache);
      if (!mustBeOn) return !enabled;
      return enabled && (variants.length === 0 || variants.includes(variant.name));
    });

  const evaluateOnce = (name: string, context: EvaluationContext, cache: EvaluationCache): Evaluation => {
    const cached = cache.get(name);
    if (cached !== undefined) return cached;
    const evaluation = evaluate(name, context, cache);
    cache.set(name, evaluation);
    return evaluation;
  };

  const featureVariant = ({ name, variants = [] }: EvaluatedFeature, context: EvaluationContext): Variant => {
    const variant = selectVariant(variants, name, variants[0]?.stickiness || 'default', context);
    return variant === undefined ? noVariant : toVariant(variant);
  };

  const evaluate = (name: string, context: EvaluationContext, cache: EvaluationCache): Evaluation => {
    const feature = byName.get(name);
    if (feature === undefined) return off;
    if (!feature.enabled || !areDependenciesSatisfied(feature, context, cache)) return off;
    const strategies = strategiesOf(feature);
    const matching = strategies.find(({ isOn }) => isOn(context));
    if (matching === undefined && strategies.length > 0) return off;
    return { enabled: true, variant: matching?.variantFor(context) ?? featureVariant(feature, context) };
  };

  return {
    /** An unknown feature is off. */
    evaluate: (name: string, context: EvaluationContext): Evaluation => evaluateOnce(name, context, new Map()),
    /** The features that are on, in the order in which they were given. */
    active: (context: EvaluationContext): (Evaluation & { readonly feature: EvaluatedFeature })[] => {
      const cache: EvaluationCache = new Map();
      const on: (Evaluation & { readonly feature: EvaluatedFeature })[] = [];
      for (const feature of byName.values()) {
        if (!feature.enabled) continue;
        const evaluation = evaluateOnce(feature.name, context, cache);
        if (evaluation.enabled) on.push({ ...evaluation, feature });
      }
      return on;
    },
    /** Evaluates every strategy, and says why; undefined for an unknown feature. */
    explain: (name: string, context: EvaluationContext): FeatureExplanation | undefined => {
      const feature = byName.get(name);
      if (feature === undefined) return undefined;
      const strategies = strategiesOf(feature).map(({ explain }) => explain(context));
      const result = resultOf(strategies);
      const hasUnsatisfiedDependency = !areDependenciesSatisfied(feature, context, new Map());
      const enabled = feature.enabled && !hasUnsatisfiedDependency && result === true;
      const variant = strategies.find((strategy) => strategy.result === true)?.variant;
      return {
        enabled,
        variant: enabled ? (variant ?? featureVariant(feature, context)) : noVariant,
        hasUnsatisfiedDependency,
        result,
        strategies,
      };
    },
  };
};
/** Features compiled once, to be evaluated for many users. */
export type Evaluator = ReturnType<typeof evaluatorOf>;
