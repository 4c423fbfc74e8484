import type { EvaluationContext } from './evaluation-context.ts';
import type { EvaluableFeature, EvaluableStrategy, FeatureExplanation, StrategyExplanation } from './evaluator.ts';
import type { EvaluableVariant, Variant } from './variant.ts';

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

const sticksToUser = (stickiness: string): boolean => ['default', 'userId', 'sessionId'].includes(stickiness);

/** Whether a strategy is on for a part of the users that it matches, by a rollout. */
const isPartialRollout = ({ rollout }: StrategyExplanation, { name }: EvaluableStrategy): boolean =>
  rollout === undefined ? name === 'gradualRolloutRandom' : rollout.percentage > 0 && rollout.percentage < 100;

const isMatching = ({ constraints, segments }: StrategyExplanation): boolean =>
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

/** Derives OpenFeature's reason for the result of a feature from its explanation. */
export const resolveWithReason = (
  feature: EvaluableFeature,
  { enabled, variant, result, hasUnsatisfiedDependency, strategies }: FeatureExplanation,
  { fields }: EvaluationContext,
): Resolution => {
  const { strategies: strategiesOfFeature = [], dependencies = [] } = feature;
  const resolution = (reason: Reason, needsTargetingKey = false): Resolution => ({
    feature,
    enabled,
    variant,
    reason,
    needsTargetingKey,
  });
  const isAnonymous = !fields.get('userId') && !fields.get('sessionId');
  const isSplitAt = (explanation: StrategyExplanation, index: number): boolean =>
    isPartialRollout(explanation, strategiesOfFeature[index] as EvaluableStrategy);
  const needsTargetingKey = ({ rollout }: StrategyExplanation): boolean =>
    isAnonymous && rollout !== undefined && sticksToUser(rollout.stickiness);

  if (!feature.enabled) return resolution('DISABLED');
  if (hasUnsatisfiedDependency) return resolution('TARGETING_MATCH');
  if (!enabled) {
    if (result === 'unknown') return resolution('UNKNOWN');
    const splitStrategies = strategies.filter((one, index) => isMatching(one) && isSplitAt(one, index));
    return splitStrategies.length === 0
      ? resolution('TARGETING_MATCH')
      : resolution('SPLIT', splitStrategies.some(needsTargetingKey));
  }
  const decidingIndex = strategies.findIndex((explanation) => explanation.result === true);
  const [deciding, strategy] = [strategies[decidingIndex], strategiesOfFeature[decidingIndex]];
  const variants: readonly EvaluableVariant[] =
    (deciding?.variant === undefined ? feature.variants : strategy?.variants) ?? [];
  const isSplitByWeight = variants.filter(({ weight }) => weight > 0).length > 1;
  const variantStickiness = variants[0]?.stickiness || strategy?.parameters?.['stickiness'] || 'default';
  const variantNeedsTargetingKey =
    isSplitByWeight && isAnonymous && sticksToUser(variantStickiness) && !fields.get('remoteAddress');
  if (deciding !== undefined && isSplitAt(deciding, decidingIndex)) {
    return resolution('SPLIT', needsTargetingKey(deciding) || variantNeedsTargetingKey);
  }
  if (isSplitByWeight) return resolution('SPLIT', variantNeedsTargetingKey);
  const isStatic =
    dependencies.length === 0 &&
    (deciding === undefined || (decidingIndex === 0 && isUnconditional(deciding, strategy as EvaluableStrategy)));
  return resolution(isStatic ? 'STATIC' : 'TARGETING_MATCH');
};

/** Whether variants of the feature have payloads. The value of such a feature is a payload, the value of others whether they are on. */
export const hasPayloads = ({ variants = [], strategies = [] }: EvaluableFeature): boolean =>
  [variants, ...strategies.map((strategy) => strategy.variants ?? [])].some((list) =>
    list.some(({ payload }) => payload !== undefined),
  );
