import {
  compileConstraint,
  type EvaluableConstraint,
  type EvaluationContext,
  fieldValue,
  type Predicate,
} from './constraint.ts';
import { compileStrategyType, isInRollout, type Rollout } from './compile-strategy-type.ts';
import { compileChunk, type FeatureChunk, isOff, isOn } from './feature-chunk.ts';
import type { IdList } from './id-list.ts';
import { compileResolver, type Resolution, type Resolver } from './resolution.ts';
import { compileVariants, type EvaluableVariant, noVariant, type Variant } from './variant.ts';

export interface EvaluableStrategy {
  readonly name: string;
  readonly parameters?: Readonly<Record<string, string | undefined>> | undefined;
  readonly constraints?: readonly EvaluableConstraint[] | undefined;
  readonly segments?: readonly number[] | undefined;
  readonly variants?: readonly EvaluableVariant[] | undefined;
}

interface EvaluableDependency {
  readonly feature: string;
  readonly enabled?: boolean | undefined;
  readonly variants?: readonly string[] | undefined;
}

/** A feature as SDKs receive it. */
export interface EvaluableFeature {
  readonly name: string;
  readonly enabled: boolean;
  readonly impressionData?: boolean | undefined;
  readonly strategies?: readonly EvaluableStrategy[] | undefined;
  readonly variants?: readonly EvaluableVariant[] | undefined;
  readonly dependencies?: readonly EvaluableDependency[] | undefined;
}

export interface EvaluableSegment {
  readonly id: number;
  readonly constraints: readonly EvaluableConstraint[];
  /** the ids of which a context must have one */
  readonly list?: EvaluableList | undefined;
}

/** The list of a segment. */
export interface EvaluableList {
  readonly contextName: string;
  /** undefined where they are not known: the segment then matches nobody */
  readonly ids: Pick<IdList, 'has'> | undefined;
}

export interface Evaluation {
  readonly enabled: boolean;
  readonly variant: Variant;
}

/** Why a strategy is on or off for a user. */
export interface StrategyExplanation {
  /** `unknown` where constraints and segments match, and only the application can evaluate the strategy type */
  readonly result: boolean | 'unknown';
  /** whether the server can evaluate the strategy type */
  readonly isEvaluable: boolean;
  /** for each constraint of the strategy, in their order: whether it matches */
  readonly constraints: readonly boolean[];
  /**
   * for each segment of the strategy, in their order; one that does not exist matches no user. The result of a list follows those of the
   * constraints
   */
  readonly segments: readonly {
    readonly id: number;
    readonly result: boolean;
    readonly constraints: readonly boolean[];
  }[];
  /** for a gradual rollout: the bucket of the user */
  readonly rollout?: Rollout;
  /** the variant of the strategy, if it is active and has variants */
  readonly variant?: Variant;
}

/** Why a feature is on or off for a user. */
export interface FeatureExplanation extends Evaluation {
  readonly hasUnsatisfiedDependency: boolean;
  /** for each dependency of the feature, in their order: whether it is satisfied */
  readonly dependencies: readonly boolean[];
  /** the result of all strategies: `true` where one is on or there is none, `unknown` where none is on and one is unknown */
  readonly result: boolean | 'unknown';
  /** for each strategy of the feature, in their order */
  readonly strategies: readonly StrategyExplanation[];
}

/** A feature that is on for a user: the same object each time that the compiled feature has this variant. */
export interface ActiveFeature {
  readonly feature: EvaluableFeature;
  readonly variant: Variant;
  /** what a caller has derived from it */
  derived?: unknown;
}

/** The evaluations for one context so far. A parent is evaluated once for all features that depend on it, even if its rollout is random. */
type EvaluationCache = Map<CompiledFeature, Evaluation>;
/** What was derived for one context so far, by feature. */
type CacheByFeature<T> = Map<string, T>;

/** The variant of an evaluation; undefined where it is off. */
function onlyActive({ enabled, variant }: Evaluation): Variant | undefined {
  return enabled ? variant : undefined;
}

/** Visits features that are on. */
export interface ActiveVisitor {
  /** one of the simple features of a chunk, by its index: it has no variant */
  readonly simple: (chunk: FeatureChunk, nth: number) => void;
  readonly other: (active: ActiveFeature) => void;
}

/** A simple feature of a chunk, which is on. It is read for this alone, and not kept. */
export function activeInChunk({ features }: FeatureChunk, nth: number): ActiveFeature {
  return { feature: (features[nth] as CompiledFeature).read(), variant: noVariant };
}

const off: Evaluation = { enabled: false, variant: noVariant };

/** Returns the compiled constraints of a segment by its id; undefined where there is no such segment. */
export type FindSegment = (segment: number) => readonly Predicate[] | undefined;

/** Whether all conditions hold. */
function allOf(conditions: readonly Predicate[]): Predicate {
  const [first] = conditions;
  if (first === undefined) return () => true;
  if (conditions.length === 1) return first;
  return (context) => {
    for (const holds of conditions) if (!holds(context)) return false;
    return true;
  };
}

function compileStrategy(
  { name, parameters = {}, constraints = [], segments = [], variants = [] }: EvaluableStrategy,
  feature: string,
  findSegment: FindSegment,
) {
  const ownConstraints = constraints.map(compileConstraint);
  const segmentConstraints = segments.map((id) => ({ id, constraints: findSegment(id) }));
  const matches = allOf([
    ...ownConstraints,
    ...segmentConstraints.flatMap((segment) => segment.constraints ?? [(): boolean => false]),
  ]);
  const strategyType = compileStrategyType(name, parameters, feature);
  const stickiness = variants[0]?.stickiness || parameters['stickiness'] || 'default';
  const groupId = parameters['groupId'] || feature;
  const selectVariant = compileVariants(variants, groupId, stickiness);
  return {
    matches,
    isActive: strategyType?.isActive,
    rollout: strategyType?.rollout,
    selectVariant,
    explain: (context: EvaluationContext): StrategyExplanation => {
      const constraintResults = ownConstraints.map((holds) => holds(context));
      const segmentResults = segmentConstraints.map(({ id, constraints }) => {
        const results = (constraints ?? []).map((holds) => holds(context));
        return { id, result: constraints !== undefined && results.every(Boolean), constraints: results };
      });
      const isMatching = constraintResults.every(Boolean) && segmentResults.every(({ result }) => result);
      const rollout = strategyType?.rolloutFor?.(context);
      const isActive = rollout === undefined ? strategyType?.isActive(context) : isInRollout(rollout);
      const result = isMatching && (isActive ?? 'unknown');
      const variant = result === true ? selectVariant?.(context) : undefined;
      return {
        result,
        isEvaluable: strategyType !== undefined,
        constraints: constraintResults,
        segments: segmentResults,
        ...(rollout === undefined ? {} : { rollout }),
        ...(variant === undefined ? {} : { variant }),
      };
    },
  };
}
type CompiledStrategy = ReturnType<typeof compileStrategy>;

function resultOf(strategies: readonly StrategyExplanation[]): boolean | 'unknown' {
  if (strategies.length === 0 || strategies.some(({ result }) => result === true)) return true;
  return strategies.some(({ result }) => result === 'unknown') && 'unknown';
}

/** A feature whose constraints are parsed and whose segments are resolved. */
interface Compilation {
  readonly feature: EvaluableFeature;
  readonly strategies: readonly CompiledStrategy[];
  /** the variant of the feature itself, for a user whose strategy has none */
  readonly variantFor: (context: EvaluationContext) => Variant;
  /** compiled at the first call: frontends do not ask for reasons */
  readonly resolver: () => Resolver;
  /** The feature with one of its variants: the same object for the same variant. */
  readonly activeWith: (variant: Variant) => ActiveFeature;
}

/** A feature that is compiled when it is first evaluated by itself: most of 100,000 are decided for most users by the index of their chunk. */
export class CompiledFeature implements Resolver {
  readonly name: string;
  readonly #read: () => EvaluableFeature;
  readonly #findSegment: FindSegment;
  #compilation: Compilation | undefined;

  /** @param read returns the feature, the same each time */
  constructor(name: string, read: () => EvaluableFeature, findSegment: FindSegment) {
    this.name = name;
    this.#read = read;
    this.#findSegment = findSegment;
  }

  #compile(): Compilation {
    return (this.#compilation ??= compile(this.#read(), this.#findSegment));
  }

  /** The feature as it was delivered. It is read anew where it is not compiled yet, and not kept. */
  read(): EvaluableFeature {
    return this.#compilation?.feature ?? this.#read();
  }
  get feature(): EvaluableFeature {
    return this.#compile().feature;
  }
  get strategies(): readonly CompiledStrategy[] {
    return this.#compile().strategies;
  }
  get variantFor(): Compilation['variantFor'] {
    return this.#compile().variantFor;
  }
  resolve(...args: Parameters<Resolver['resolve']>): Resolution {
    return this.#compile()
      .resolver()
      .resolve(...args);
  }
  resolveOff(): Resolution {
    return this.#compile().resolver().resolveOff();
  }
  activeWith(variant: Variant): ActiveFeature {
    return this.#compile().activeWith(variant);
  }
}

/** Compiles the constraints of a segment, and after them its list. */
export function compileSegment({ constraints, list }: Omit<EvaluableSegment, 'id'>): readonly Predicate[] {
  const compiled = constraints.map(compileConstraint);
  return list === undefined ? compiled : [...compiled, compileList(list)];
}

function compileList({ contextName, ids }: EvaluableList): Predicate {
  return (context) => {
    const value = ids === undefined ? undefined : fieldValue(context, contextName);
    return value !== undefined && ids?.has(value) === true;
  };
}

/** Compiles one feature, with the segments as they are now. */
function compile(feature: EvaluableFeature, findSegment: FindSegment): Compilation {
  const { name, strategies = [], variants = [] } = feature;
  const variantFor = compileVariants(variants, name, variants[0]?.stickiness || 'default') ?? (() => noVariant);
  const compiled = strategies.map((strategy) => compileStrategy(strategy, name, findSegment));
  let resolver: Resolver | undefined;
  const active: ActiveFeature[] = [];
  return {
    feature,
    strategies: compiled,
    variantFor,
    resolver: () => (resolver ??= compileResolver(feature, compiled, variantFor)),
    activeWith: (variant) => {
      for (const one of active) if (one.variant === variant) return one;
      const made = { feature, variant };
      active.push(made);
      return made;
    },
  };
}

/** The features that an evaluator evaluates. */
interface CompiledFeatures {
  readonly find: (name: string) => CompiledFeature | undefined;
  /** at least the enabled features, in their order; every call returns the same ones */
  readonly enabled: () => readonly FeatureChunk[];
  /** all features, in their order */
  readonly all: () => readonly FeatureChunk[];
}

const chunkLength = 1_024;

/** Divides features into chunks. */
function chunksOf(features: readonly CompiledFeature[]): readonly FeatureChunk[] {
  const chunks: FeatureChunk[] = [];
  for (let from = 0; from < features.length; from += chunkLength)
    chunks.push(compileChunk(features.slice(from, from + chunkLength)));
  return chunks;
}

/** Compiles features for evaluation as Unleash's SDKs do it, by their common client specification. */
export function compileEvaluator(
  features: readonly EvaluableFeature[],
  segments: readonly EvaluableSegment[] = [],
): Evaluator {
  const segmentsById = new Map(segments.map((segment) => [segment.id, compileSegment(segment)]));
  const byName = new Map(
    features.map((feature) => [
      feature.name,
      new CompiledFeature(
        feature.name,
        () => feature,
        (id) => segmentsById.get(id),
      ),
    ]),
  );
  const chunks = chunksOf([...byName.values()]);
  const all = () => chunks;
  return createEvaluator({ find: (name) => byName.get(name), enabled: all, all });
}

/** Evaluates compiled features as Unleash's SDKs do it, by their common client specification. */
export function createEvaluator({ find, enabled: enabledFeatures, all }: CompiledFeatures) {
  const isDependencySatisfied = (
    { feature: parent, enabled: mustBeOn = true, variants = [] }: EvaluableDependency,
    evaluateParent: (compiled: CompiledFeature) => Evaluation,
  ): boolean => {
    const compiled = find(parent);
    // A parent must not have parents itself. This also ends the evaluation of circular dependencies.
    if (compiled === undefined || (compiled.feature.dependencies ?? []).length > 0) return false;
    const { enabled, variant } = evaluateParent(compiled);
    if (!mustBeOn) return !enabled;
    return enabled && (variants.length === 0 || variants.includes(variant.name));
  };

  const areDependenciesSatisfied = (
    { dependencies }: EvaluableFeature,
    evaluateParent: (compiled: CompiledFeature) => Evaluation,
  ): boolean =>
    dependencies === undefined || dependencies.every((dependency) => isDependencySatisfied(dependency, evaluateParent));

  const evaluateOnce = (compiled: CompiledFeature, context: EvaluationContext, cache: EvaluationCache): Evaluation => {
    const cached = cache.get(compiled);
    if (cached !== undefined) return cached;
    const variant = variantOf(compiled, context, cache);
    const evaluation = variant === undefined ? off : { enabled: true, variant };
    cache.set(compiled, evaluation);
    return evaluation;
  };

  /** The variant of a user for whom the feature is on; undefined where it is off. */
  const variantOf = (
    { feature, strategies, variantFor }: CompiledFeature,
    context: EvaluationContext,
    cache: EvaluationCache,
  ): Variant | undefined => {
    if (!feature.enabled || !areDependenciesSatisfied(feature, (parent) => evaluateOnce(parent, context, cache)))
      return undefined;
    if (strategies.length === 0) return variantFor(context);
    for (const { matches, isActive, selectVariant } of strategies)
      if (isActive !== undefined && matches(context) && isActive(context))
        return (selectVariant ?? variantFor)(context);
    return undefined;
  };

  /** The resolutions by context. A request has one context, so that a parent with a random rollout has one result for all features. */
  const resolutions = new WeakMap<EvaluationContext, CacheByFeature<Resolution>>();
  const resolveOnce = (compiled: CompiledFeature, context: EvaluationContext): Resolution => {
    let cache = resolutions.get(context);
    if (cache === undefined) resolutions.set(context, (cache = new Map()));
    const { name } = compiled;
    const cached = cache.get(name);
    if (cached !== undefined) return cached;
    const resolution = resolve(compiled, context);
    cache.set(name, resolution);
    return resolution;
  };
  const resolve = (compiled: CompiledFeature, context: EvaluationContext): Resolution =>
    compiled.resolve(
      context,
      compiled.feature.enabled && areDependenciesSatisfied(compiled.feature, (parent) => resolveOnce(parent, context)),
    );

  /** The explanations by context: a request draws each random bucket once for all features that it explains. */
  const explanations = new WeakMap<EvaluationContext, CacheByFeature<FeatureExplanation>>();
  const explain = (compiled: CompiledFeature, context: EvaluationContext): FeatureExplanation => {
    let cache = explanations.get(context);
    if (cache === undefined) explanations.set(context, (cache = new Map()));
    const { name } = compiled;
    const cached = cache.get(name);
    if (cached !== undefined) return cached;
    const explanation = explainUncached(compiled, context);
    cache.set(name, explanation);
    return explanation;
  };

  const explainUncached = (compiled: CompiledFeature, context: EvaluationContext): FeatureExplanation => {
    const { feature } = compiled;
    const strategies = compiled.strategies.map(({ explain }) => explain(context));
    const result = resultOf(strategies);
    const explainParent = (parent: CompiledFeature) => explain(parent, context);
    const dependencies = (feature.dependencies ?? []).map((dependency) =>
      isDependencySatisfied(dependency, explainParent),
    );
    const hasUnsatisfiedDependency = dependencies.includes(false);
    const enabled = feature.enabled && !hasUnsatisfiedDependency && result === true;
    const variant = strategies.find((strategy) => strategy.result === true)?.variant;
    return {
      enabled,
      variant: enabled ? (variant ?? compiled.variantFor(context)) : noVariant,
      hasUnsatisfiedDependency,
      dependencies,
      result,
      strategies,
    };
  };

  let cachedParents: ReadonlySet<string> | undefined;
  /** The names of the features that others depend on. */
  const parentNames = (): ReadonlySet<string> =>
    (cachedParents ??= new Set(enabledFeatures().flatMap(({ parents }) => parents)));

  const visitActive = (context: EvaluationContext, visitor: ActiveVisitor): void => {
    const cache: EvaluationCache = new Map();
    const parents = parentNames();
    const variantOnce = (compiled: CompiledFeature): Variant | undefined =>
      parents.size > 0 && parents.has(compiled.name)
        ? onlyActive(evaluateOnce(compiled, context, cache))
        : variantOf(compiled, context, cache);
    for (const chunk of enabledFeatures()) {
      const marks = chunk.evaluate(context);
      for (let nth = 0; nth < chunk.features.length; nth++) {
        if (marks[nth] === isOff) continue;
        if (marks[nth] === isOn) {
          visitor.simple(chunk, nth);
          continue;
        }
        const compiled = chunk.features[nth] as CompiledFeature;
        const variant = variantOnce(compiled);
        if (variant !== undefined) visitor.other(compiled.activeWith(variant));
      }
    }
  };

  return {
    /** Visits the features that are on, in their order. */
    visitActive,
    /** Evaluates a feature; an unknown one is off. */
    evaluate: (name: string, context: EvaluationContext): Evaluation => {
      const compiled = find(name);
      return compiled === undefined ? off : evaluateOnce(compiled, context, new Map());
    },
    /** The features that are on, in their order. */
    active: (context: EvaluationContext): ActiveFeature[] => {
      const active: ActiveFeature[] = [];
      visitActive(context, {
        simple: ({ features }, nth) => void active.push((features[nth] as CompiledFeature).activeWith(noVariant)),
        other: (one) => void active.push(one),
      });
      return active;
    },
    /** Evaluates every strategy of a feature, and returns the reasons; undefined for an unknown feature. */
    explain: (name: string, context: EvaluationContext): FeatureExplanation | undefined => {
      const compiled = find(name);
      return compiled === undefined ? undefined : explain(compiled, context);
    },
    /** Evaluates a feature and returns the reason for its result; undefined for an unknown feature. */
    resolve: (name: string, context: EvaluationContext): Resolution | undefined => {
      const compiled = find(name);
      return compiled === undefined ? undefined : resolveOnce(compiled, context);
    },
    /** Evaluates all features, and returns the reason for the result of each, in their order. */
    resolveAll: (context: EvaluationContext): Resolution[] => {
      const parents = parentNames();
      return all().flatMap(({ features, candidates, otherwise }) => {
        const marks = candidates(context);
        return otherwise().map((resolution, nth) => {
          if (marks[nth] === isOff) return resolution;
          const compiled = features[nth] as CompiledFeature;
          const isParent = parents.size > 0 && parents.has(compiled.name);
          return isParent ? resolveOnce(compiled, context) : resolve(compiled, context);
        });
      });
    },
  };
}

/** Features compiled once, to be evaluated for many users. */
export type Evaluator = ReturnType<typeof createEvaluator>;
