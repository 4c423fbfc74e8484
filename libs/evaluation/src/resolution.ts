import type { Rollout } from './compile-strategy-type.ts';
import type { EvaluationContext, Predicate } from './constraint.ts';
import type { EvaluableFeature, EvaluableStrategy } from './evaluator.ts';
import { type EvaluableVariant, noVariant, type Variant } from './variant.ts';

/** The reason for the result of a feature, as OpenFeature names it. */
type Reason = 'STATIC' | 'TARGETING_MATCH' | 'SPLIT' | 'DISABLED' | 'UNKNOWN';

/** The evaluation of a feature with its reason. */
export interface Resolution {
  readonly feature: EvaluableFeature;
  readonly enabled: boolean;
  readonly variant: Variant;
  readonly reason: Reason;
  /** whether the result is random, because the context names neither a user nor a session */
  readonly needsTargetingKey: boolean;
}

/** A compiled strategy, as a resolution sees it. */
interface ResolvableStrategy {
  /** whether its constraints and segments match */
  readonly matches: Predicate;
  /** undefined where only the application can evaluate the strategy type */
  readonly isActive: Predicate | undefined;
  readonly rollout: Pick<Rollout, 'percentage' | 'stickiness'> | undefined;
  /** undefined where it has no variants */
  readonly selectVariant: ((context: EvaluationContext) => Variant) | undefined;
}

/** What a strategy that turns a feature on has to say about the result. */
interface Decision {
  readonly reason: Reason;
  /** whether a user without a key gets a random side of the rollout */
  readonly splitsUsers: boolean;
  /** whether a user without a key and an address gets a random variant */
  readonly splitsVariants: boolean;
  readonly resolutions: (variant: Variant, needsTargetingKey: boolean) => Resolution;
}

function sticksToUser(stickiness: string): boolean {
  return ['default', 'userId', 'sessionId'].includes(stickiness);
}

/** Whether a strategy is on for a part of the users that it matches, by a rollout. */
function isPartialRollout({ rollout }: ResolvableStrategy, { name }: EvaluableStrategy): boolean {
  return rollout === undefined ? name === 'gradualRolloutRandom' : rollout.percentage > 0 && rollout.percentage < 100;
}

/** Whether a strategy is on for every user, whatever the context. */
function isUnconditional(
  { rollout }: ResolvableStrategy,
  { name, constraints = [], segments = [] }: EvaluableStrategy,
): boolean {
  if (constraints.length + segments.length > 0) return false;
  if (rollout === undefined) return name === 'default';
  return rollout.percentage >= 100 && ['default', 'random'].includes(rollout.stickiness);
}

/** Returns the same object for the same result each time, so that callers can cache what they derive from it. */
function resolutionsWith(feature: EvaluableFeature, enabled: boolean, reason: Reason): Decision['resolutions'] {
  const made: Resolution[] = [];
  return (variant, needsTargetingKey) => {
    for (const one of made) if (one.variant === variant && one.needsTargetingKey === needsTargetingKey) return one;
    const resolution = { feature, enabled, variant, reason, needsTargetingKey };
    made.push(resolution);
    return resolution;
  };
}

/** The resolution of a feature, with OpenFeature's reason for the result. */
export interface Resolver {
  /** Returns the same object for the same result. */
  readonly resolve: (context: EvaluationContext, areDependenciesSatisfied: boolean) => Resolution;
  /** The resolution in a context that no strategy matches. */
  readonly resolveOff: () => Resolution;
}

/** Compiles the resolution of a feature. */
export function compileResolver(
  feature: EvaluableFeature,
  strategies: readonly ResolvableStrategy[],
  variantOfFeature: (context: EvaluationContext) => Variant,
): Resolver {
  const { strategies: settings = [], dependencies = [] } = feature;
  const off = (reason: Reason): Decision['resolutions'] => resolutionsWith(feature, false, reason);
  const [disabled, unmatched, unknown, split] = [off('DISABLED'), off('TARGETING_MATCH'), off('UNKNOWN'), off('SPLIT')];
  const hasDependencies = dependencies.length > 0;

  const decisionOf = (
    variants: readonly EvaluableVariant[] = [],
    {
      stickiness,
      isPartial,
      splitsUsers,
      isStatic,
    }: Record<'isPartial' | 'splitsUsers' | 'isStatic', boolean> & {
      readonly stickiness: string | undefined;
    },
  ): Decision => {
    const isSplitByWeight = variants.filter(({ weight }) => weight > 0).length > 1;
    const reason = isPartial || isSplitByWeight ? 'SPLIT' : isStatic && !hasDependencies ? 'STATIC' : 'TARGETING_MATCH';
    const splitsVariants = isSplitByWeight && sticksToUser(variants[0]?.stickiness || stickiness || 'default');
    return { reason, splitsUsers, splitsVariants, resolutions: resolutionsWith(feature, true, reason) };
  };
  const compiled = strategies.map((strategy, nth) => {
    const setting = settings[nth] as EvaluableStrategy;
    const isPartial = isPartialRollout(strategy, setting);
    const splitsUsers = isPartial && strategy.rollout !== undefined && sticksToUser(strategy.rollout.stickiness);
    const variants = strategy.selectVariant === undefined ? feature.variants : setting.variants;
    const isStatic = nth === 0 && isUnconditional(strategy, setting);
    const { stickiness } = setting.parameters ?? {};
    return { strategy, isPartial, decision: decisionOf(variants, { stickiness, isPartial, splitsUsers, isStatic }) };
  });
  const withoutStrategies = decisionOf(feature.variants, {
    stickiness: undefined,
    isPartial: false,
    splitsUsers: false,
    isStatic: true,
  });

  const isAnonymous = ({ fields }: EvaluationContext): boolean => !fields.get('userId') && !fields.get('sessionId');
  const decide = (
    { splitsUsers, splitsVariants, resolutions }: Decision,
    variant: Variant,
    context: EvaluationContext,
  ): Resolution => {
    const needsTargetingKey =
      (splitsUsers || (splitsVariants && !context.fields.get('remoteAddress'))) && isAnonymous(context);
    return resolutions(variant, needsTargetingKey);
  };

  const resolve: Resolver['resolve'] = (context, areDependenciesSatisfied) => {
    if (!feature.enabled) return disabled(noVariant, false);
    if (!areDependenciesSatisfied) return unmatched(noVariant, false);
    if (compiled.length === 0) return decide(withoutStrategies, variantOfFeature(context), context);
    let [isUnknown, isSplit, splitsUsers] = [false, false, false];
    for (const { strategy, isPartial, decision } of compiled) {
      if (!strategy.matches(context)) continue;
      if (strategy.isActive === undefined) isUnknown = true;
      else if (strategy.isActive(context))
        return decide(decision, (strategy.selectVariant ?? variantOfFeature)(context), context);
      else if (isPartial) {
        isSplit = true;
        splitsUsers ||= decision.splitsUsers;
      }
    }
    if (isUnknown) return unknown(noVariant, false);
    return isSplit ? split(noVariant, splitsUsers && isAnonymous(context)) : unmatched(noVariant, false);
  };
  return { resolve, resolveOff: () => (feature.enabled ? unmatched : disabled)(noVariant, false) };
}

/** Whether variants of the feature have payloads. The value of such a feature is a payload, the value of others whether they are on. */
export function hasPayloads({ variants = [], strategies = [] }: EvaluableFeature): boolean {
  return [variants, ...strategies.map((strategy) => strategy.variants ?? [])].some((list) =>
    list.some(({ payload }) => payload !== undefined),
  );
}
