import { addressMatcher, type EvaluationContext, fieldValue, type Predicate, randomKey } from './constraint.ts';
import { rolloutBuckets } from './variant.ts';

type StrategyParameters = Readonly<Record<string, string | undefined>>;

/** A gradual rollout to a percentage of users, with the bucket of one user: null without a value of the context field `stickiness`. */
export interface Rollout {
  readonly percentage: number;
  readonly stickiness: string;
  readonly groupId: string;
  readonly bucket: number | null;
}

/** The decision of a strategy type, with its parameters, for a user. Constraints and segments are not part of it. */
interface CompiledStrategyType {
  readonly isActive: Predicate;
  /** for a gradual rollout: what it is by, for every user */
  readonly rollout?: Omit<Rollout, 'bucket'>;
  /** for a gradual rollout: the bucket of the user. The strategy is on for the user if `bucket` is at most `percentage`. */
  readonly rolloutFor?: (context: EvaluationContext) => Rollout;
}

function commaSeparated(text: string | undefined): string[] {
  return (text ?? '')
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

/** The sticky key of a user: the text whose hash is the bucket of the user in a rollout. Users without one are in no rollout. */
function stickyKey(stickiness: string, context: EvaluationContext): string | undefined {
  if (stickiness === 'random') return randomKey(context);
  if (stickiness !== 'default') return fieldValue(context, stickiness);
  return defaultKey(context) ?? randomKey(context);
}

/** The sticky key of a user by the stickiness `default`; undefined for an anonymous user, who gets a random one. */
export function defaultKey(context: EvaluationContext): string | undefined {
  return fieldValue(context, 'userId') ?? fieldValue(context, 'sessionId');
}

/** Whether a user is in a rollout. */
export function isInRollout({ bucket, percentage }: Rollout): boolean {
  return bucket !== null && bucket <= percentage;
}

/** The bucket of a sticky key never changes, so a larger percentage only adds keys to a rollout. */
function compileRollout(percentageText: string | undefined, stickiness: string, groupId: string): CompiledStrategyType {
  const percentage = Number(percentageText);
  const bucketOf = rolloutBuckets(groupId);
  const rollout = { percentage, stickiness, groupId };
  const isForAll = percentage >= 100 && ['default', 'random'].includes(stickiness);
  const isActive = (context: EvaluationContext): boolean => {
    const key = stickyKey(stickiness, context);
    return key !== undefined && bucketOf(key) <= percentage;
  };
  return {
    // No random key is drawn where the result does not depend on it: it can be cached for users without a key.
    isActive: isForAll ? () => true : isActive,
    rollout,
    rolloutFor: (context) => {
      const key = stickyKey(stickiness, context);
      return { ...rollout, bucket: key === undefined ? null : bucketOf(key) };
    },
  };
}

const compilers = new Map<string, (parameters: StrategyParameters, feature: string) => CompiledStrategyType>(
  Object.entries({
    default: () => ({ isActive: () => true }),
    userWithId: ({ userIds }: StrategyParameters) => {
      const ids = new Set(commaSeparated(userIds));
      return { isActive: (context: EvaluationContext) => ids.has(fieldValue(context, 'userId') ?? '') };
    },
    remoteAddress: ({ IPs }: StrategyParameters) => {
      const matches = addressMatcher(commaSeparated(IPs));
      return { isActive: (context: EvaluationContext) => matches(fieldValue(context, 'remoteAddress')) };
    },
    flexibleRollout: ({ rollout: percentage, stickiness, groupId }: StrategyParameters, feature: string) =>
      compileRollout(percentage, stickiness || 'default', groupId || feature),
    gradualRolloutUserId: ({ percentage, groupId = '' }: StrategyParameters) =>
      compileRollout(percentage, 'userId', groupId),
    gradualRolloutSessionId: ({ percentage, groupId = '' }: StrategyParameters) =>
      compileRollout(percentage, 'sessionId', groupId),
    gradualRolloutRandom: ({ percentage }: StrategyParameters) => ({
      isActive: ({ random }: EvaluationContext) => random() * 100 < Number(percentage),
    }),
  }),
);

/**
 * Compiles a strategy type with its parameters.
 * @returns undefined for a type that only the application can evaluate: a custom one, or `applicationHostname`
 */
export function compileStrategyType(
  type: string,
  parameters: StrategyParameters,
  feature: string,
): CompiledStrategyType | undefined {
  return compilers.get(type)?.(parameters, feature);
}
