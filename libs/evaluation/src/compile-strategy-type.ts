import { addressMatcher } from './constraint.ts';
import { type EvaluationContext, fieldValue, type Predicate, randomKey } from './evaluation-context.ts';
import { rolloutBuckets } from './murmur-hash.ts';

type Parameters = Readonly<Record<string, string | undefined>>;

/** A percentage of users. `bucket` is null for a user without a value of the stickiness field. */
export interface Rollout {
  readonly percentage: number;
  readonly stickiness: string;
  readonly groupId: string;
  readonly bucket: number | null;
}

/** What a strategy type with its parameters decides for a user, constraints and segments aside. */
export interface CompiledStrategyType {
  readonly isActive: Predicate;
  /** of a gradual rollout: the user's bucket. The feature is on for the user if `bucket` is at most `percentage`. */
  readonly rolloutFor?: (context: EvaluationContext) => Rollout;
}

const commaSeparated = (text: string | undefined): string[] =>
  (text ?? '')
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');

const stickyKey = (stickiness: string, context: EvaluationContext): string | undefined => {
  if (stickiness === 'random') return randomKey(context);
  if (stickiness !== 'default') return fieldValue(context, stickiness);
  return fieldValue(context, 'userId') ?? fieldValue(context, 'sessionId') ?? randomKey(context);
};

/** Whether a user is in a rollout. */
export const isInRollout = ({ bucket, percentage }: Rollout): boolean => bucket !== null && bucket <= percentage;

/** The bucket of a sticky key never changes, so a larger percentage only adds keys to a rollout. */
const rollout = (percentageText: string | undefined, stickiness: string, groupId: string): CompiledStrategyType => {
  const percentage = Number(percentageText);
  const bucketOf = rolloutBuckets(groupId);
  const rolloutFor = (context: EvaluationContext): Rollout => {
    const key = stickyKey(stickiness, context);
    return { percentage, stickiness, groupId, bucket: key === undefined ? null : bucketOf(key) };
  };
  return { isActive: (context) => isInRollout(rolloutFor(context)), rolloutFor };
};

const strategyTypes = new Map<string, (parameters: Parameters, feature: string) => CompiledStrategyType>(
  Object.entries({
    default: () => ({ isActive: () => true }),
    userWithId: ({ userIds }: Parameters) => {
      const ids = new Set(commaSeparated(userIds));
      return { isActive: (context: EvaluationContext) => ids.has(fieldValue(context, 'userId') ?? '') };
    },
    remoteAddress: ({ IPs }: Parameters) => {
      const matches = addressMatcher(commaSeparated(IPs));
      return { isActive: (context: EvaluationContext) => matches(fieldValue(context, 'remoteAddress')) };
    },
    flexibleRollout: ({ rollout: percentage, stickiness, groupId }: Parameters, feature: string) =>
      rollout(percentage, stickiness || 'default', groupId || feature),
    gradualRolloutUserId: ({ percentage, groupId = '' }: Parameters) => rollout(percentage, 'userId', groupId),
    gradualRolloutSessionId: ({ percentage, groupId = '' }: Parameters) => rollout(percentage, 'sessionId', groupId),
    gradualRolloutRandom: ({ percentage }: Parameters) => ({
      isActive: ({ random }: EvaluationContext) => random() * 100 < Number(percentage),
    }),
  }),
);

/**
 * Compiles a strategy type with its parameters.
 * @returns undefined for a type that only the application can evaluate: a custom one, or `applicationHostname`
 */
export const compileStrategyType = (
  type: string,
  parameters: Parameters,
  feature: string,
): CompiledStrategyType | undefined => strategyTypes.get(type)?.(parameters, feature);
