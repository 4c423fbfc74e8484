import type { FrontendBody, FrontendFeatures, FrontendQuery } from '@bunting/contracts';
import type { EvaluationContext } from './constraint.ts';
import type {
  ActiveFeature,
  EvaluableFeature,
  EvaluableStrategy,
  FeatureExplanation,
  StrategyExplanation,
} from './evaluator.ts';
import type { EvaluableVariant, Variant } from './variant.ts';

type FrontendFeature = FrontendFeatures['toggles'][number];

type Values = Readonly<Record<string, unknown>>;

const ipv4MappedPrefix = '::ffff:';

/** Converts an IPv4-mapped IPv6 address to IPv4, which constraints contain; returns other addresses unchanged. */
function unmapAddress(address: string): string {
  const isMapped = address.toLowerCase().startsWith(ipv4MappedPrefix) && address.includes('.');
  return isMapped ? address.slice(ipv4MappedPrefix.length) : address;
}

/**
 * The fields of a context by name. Top-level fields take precedence over properties, and the environment of the token over both. Values
 * that are objects or null are left out.
 */
function fieldsOf(
  topLevel: Values,
  properties: Values,
  request: { readonly environment: string; readonly address: string | undefined },
): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  if (request.address !== undefined) fields.set('remoteAddress', unmapAddress(request.address));
  for (const values of [properties, topLevel]) {
    for (const [field, value] of Object.entries(values)) {
      if (value !== null && value !== undefined && typeof value !== 'object') fields.set(field, String(value));
    }
  }
  fields.set('environment', request.environment);
  return fields;
}

const propertyPrefix = 'properties[';

/** The context fields in a query string, where a property may be written as `properties[<name>]`. */
export function contextFieldsOfQuery(
  { callerAddress, ...parameters }: FrontendQuery,
  environment: string,
): ReadonlyMap<string, string> {
  const isProperty = ([name]: readonly [string, unknown]): boolean =>
    name.startsWith(propertyPrefix) && name.endsWith(']');
  const entries = Object.entries(parameters);
  const properties = entries
    .filter(isProperty)
    .map(([name, value]) => [name.slice(propertyPrefix.length, -1), value] as const);
  const topLevel = entries.filter((entry) => !isProperty(entry));
  return fieldsOf(Object.fromEntries(topLevel), Object.fromEntries(properties), {
    environment,
    address: callerAddress,
  });
}

/** The context fields in a body. */
export function contextFieldsOfBody(
  { context }: FrontendBody,
  environment: string,
  callerAddress: string | undefined,
): ReadonlyMap<string, string> {
  const { properties, ...topLevel } = context ?? {};
  const further = typeof properties === 'object' && !Array.isArray(properties) ? properties : null;
  return fieldsOf(topLevel, (further ?? {}) as Values, { environment, address: callerAddress });
}

/** A feature that is on, as frontend SDKs receive it. */
export function frontendFeature({ feature, variant }: ActiveFeature): FrontendFeature {
  return {
    name: feature.name,
    enabled: true,
    impressionData: feature.impressionData ?? false,
    variant: { ...variant, feature_enabled: true, featureEnabled: true } as FrontendFeature['variant'],
  };
}

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

function sticksToUser(stickiness: string): boolean {
  return ['default', 'userId', 'sessionId'].includes(stickiness);
}

/** Whether a strategy is on for a part of the users that it matches, by a rollout. */
function isPartialRollout({ rollout }: StrategyExplanation, { name }: EvaluableStrategy): boolean {
  return rollout === undefined ? name === 'gradualRolloutRandom' : rollout.percentage > 0 && rollout.percentage < 100;
}

function isMatching({ constraints, segments }: StrategyExplanation): boolean {
  return constraints.every(Boolean) && segments.every(({ result }) => result);
}

/** Whether a strategy is on for every user, whatever the context. */
function isUnconditional(
  { constraints, segments, rollout }: StrategyExplanation,
  { name }: EvaluableStrategy,
): boolean {
  if (constraints.length + segments.length > 0) return false;
  if (rollout === undefined) return name === 'default';
  return rollout.percentage >= 100 && ['default', 'random'].includes(rollout.stickiness);
}

/** Derives OpenFeature's reason for the result of a feature from its explanation. */
export function resolveWithReason(
  feature: EvaluableFeature,
  { enabled, variant, result, hasUnsatisfiedDependency, strategies }: FeatureExplanation,
  { fields }: EvaluationContext,
): Resolution {
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
}

/** Whether variants of the feature have payloads. The value of such a feature is a payload, the value of others whether they are on. */
export function hasPayloads({ variants = [], strategies = [] }: EvaluableFeature): boolean {
  return [variants, ...strategies.map((strategy) => strategy.variants ?? [])].some((list) =>
    list.some(({ payload }) => payload !== undefined),
  );
}
