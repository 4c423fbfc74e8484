import { addressesAmong, type Condition } from './constraint.ts';
import { percentOf } from './murmur.ts';
import { anyKey, type Situation, valueOf } from './situation.ts';

type Parameters = Readonly<Record<string, string | undefined>>;

const always: Condition = () => true;
const never: Condition = () => false;

const listed = (text: string | undefined): string[] =>
  (text ?? '')
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');

/** What keeps a user on one side: undefined where the context does not say it. */
const keyFor = (stickiness: string, situation: Situation): string | undefined => {
  if (stickiness === 'random') return anyKey(situation);
  if (stickiness !== 'default') return valueOf(situation, stickiness);
  return valueOf(situation, 'userId') ?? valueOf(situation, 'sessionId') ?? anyKey(situation);
};

/** On for a share of all keys: for the same ones each time, and for those and others when it grows. */
const share =
  (percent: string | undefined, stickiness: string, groupId: string): Condition =>
  (situation) => {
    const key = keyFor(stickiness, situation);
    return key !== undefined && percentOf(key, groupId) <= Number(percent);
  };

const rules = new Map<string, (parameters: Parameters, feature: string) => Condition>(
  Object.entries({
    default: () => always,
    userWithId: ({ userIds }: Parameters) => {
      const ids = new Set(listed(userIds));
      return (situation: Situation) => ids.has(valueOf(situation, 'userId') ?? '');
    },
    remoteAddress: ({ IPs }: Parameters) => {
      const isAmong = addressesAmong(listed(IPs));
      return (situation: Situation) => isAmong(valueOf(situation, 'remoteAddress'));
    },
    flexibleRollout: ({ rollout, stickiness, groupId }: Parameters, feature: string) =>
      share(rollout, stickiness || 'default', groupId || feature),
    gradualRolloutUserId: ({ percentage, groupId = '' }: Parameters) => share(percentage, 'userId', groupId),
    gradualRolloutSessionId: ({ percentage, groupId = '' }: Parameters) => share(percentage, 'sessionId', groupId),
    gradualRolloutRandom:
      ({ percentage }: Parameters) =>
      ({ random }: Situation) =>
        random() * 100 < Number(percentage),
  }),
);

/**
 * What a strategy comes to, its constraints aside. What only the application itself can know, such as the name of its host, and
 * what only it can evaluate holds for nobody here.
 */
export const activationOf = (type: string, parameters: Parameters, feature: string): Condition =>
  rules.get(type)?.(parameters, feature) ?? never;
