import type { EvaluationContext } from './evaluation-context.ts';
import type { EvaluableFeature, EvaluableStrategy, FeatureExplanation, StrategyExplanation } from './evaluator.ts';
import type { EvaluableVariant, Variant } from './variant.ts';

/** How a value came about, in the words of OpenFeature. */
export type Reason = 'STATIC' | 'TARGETING_MATCH' | 'SPLIT' | 'DISABLED' | 'UNKNOWN';

/** The evaluation of a feature with its reason. */
export interface Resolution {
  readonly feature: EvaluableFeature;
  readonly enabled: boolean;
  readonly variant: Variant;
  readonly reason: Reason;
  /** whether the result is random, because the context names neither a user nor a session */
  readonly needsTargetingKey: boolean;
}

const sticksToUser = (stickiness: string): boolean => ['default', 'userId', 'sessionId'].includes(stickiness);

const splits = ({ rollout }: StrategyExplanation, { name }: EvaluableStrategy): boolean =>
  rollout === undefined ? name === 'gradualRolloutRandom' : rollout.percentage > 0 && rollout.percentage < 100;

const matches = ({ constraints, segments }: StrategyExplanation): boolean =>
  constraints.every(Boolean) && segments.every(({ result }) => result);

/** Whether a strategy is on for every user, whatever the context. */
const isUnconditional = (
  { constraints, segments, rollout }: StrategyExplanation,
  { name }: EvaluableStrategy,
): boolean => {
  if (constraints.length + segments.length > 0) return false;
  if (rollout === undefined) return name === 'default';
  return rollout.percentage >= 100 && ['default', 'random'].includes(rollout.stickiness);
};

/** Why a feature has its result for a user. */
export const resolveWithReason = (
  feature: EvaluableFeature,
  { enabled, variant, result, hasUnsatisfiedDependency, strategies }: FeatureExplanation,
  { fields }: EvaluationContext,
): Resolution => {
  const { strategies: configured = [], dependencies = [] } = feature;
  const resolution = (reason: Reason, needsTargetingKey = false): Resolution => ({
    feature,
    enabled,
    variant,
    reason,
    needsTargetingKey,
  });
  const isAnonymous = !fields.get('userId') && !fields.get('sessionId');
  const splitBy = (explained: StrategyExplanation, nth: number): boolean =>
    splits(explained, configured[nth] as EvaluableStrategy);
  const needsTargetingKey = ({ rollout }: StrategyExplanation): boolean =>
    isAnonymous && rollout !== undefined && sticksToUser(rollout.stickiness);

  if (!feature.enabled) return resolution('DISABLED');
  if (hasUnsatisfiedDependency) return resolution('TARGETING_MATCH');
  if (!enabled) {
    if (result === 'unknown') return resolution('UNKNOWN');
    const split = strategies.filter((explained, nth) => matches(explained) && splitBy(explained, nth));
    return split.length === 0 ? resolution('TARGETING_MATCH') : resolution('SPLIT', split.some(needsTargetingKey));
  }
  const nth = strategies.findIndex((explained) => explained.result === true);
  const [deciding, strategy] = [strategies[nth], configured[nth]];
  const variants: readonly EvaluableVariant[] =
    (deciding?.variant === undefined ? feature.variants : strategy?.variants) ?? [];
  const isSplitByWeight = variants.filter(({ weight }) => weight > 0).length > 1;
  const variantStickiness = variants[0]?.stickiness || strategy?.parameters?.['stickiness'] || 'default';
  const variantNeedsTargetingKey =
    isSplitByWeight && isAnonymous && sticksToUser(variantStickiness) && !fields.get('remoteAddress');
  if (deciding !== undefined && splitBy(deciding, nth)) {
    return resolution('SPLIT', needsTargetingKey(deciding) || variantNeedsTargetingKey);
  }
  if (isSplitByWeight) return resolution('SPLIT', variantNeedsTargetingKey);
  const isStatic =
    dependencies.length === 0 &&
    (deciding === undefined || (nth === 0 && isUnconditional(deciding, strategy as EvaluableStrategy)));
  return resolution(isStatic ? 'STATIC' : 'TARGETING_MATCH');
};

/** Whether variants of the feature have payloads: then its value is a payload, else whether it is on. */
export const hasPayloads = ({ variants = [], strategies = [] }: EvaluableFeature): boolean =>
  [variants, ...strategies.map((strategy) => strategy.variants ?? [])].some((list) =>
    list.some(({ payload }) => payload !== undefined),
  );
