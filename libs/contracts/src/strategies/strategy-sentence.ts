import type { Constraint, ConstraintOperator } from './constraints.ts';
import type { FeatureStrategy } from './strategies.ts';

/** The maximum number of values of a list that a sentence names. */
const maxNamedValues = 4;

function listOf(items: readonly string[], conjunction: string): string {
  return items.length < 2
    ? (items[0] ?? '')
    : `${items.slice(0, -1).join(', ')} ${conjunction} ${items.at(-1) as string}`;
}

function namedValues(values: readonly string[], count = values.length): string {
  if (count <= maxNamedValues) return listOf(values, 'or');
  return `${values.slice(0, maxNamedValues - 1).join(', ')} or ${count - maxNamedValues + 1} more`;
}

/** The phrase of an operator, and that of its inversion. */
const phrases: Readonly<Record<ConstraintOperator, readonly [plain: string, inverted: string]>> = {
  IN: ['is', 'is not'],
  NOT_IN: ['is not', 'is'],
  STR_ENDS_WITH: ['ends with', 'does not end with'],
  STR_STARTS_WITH: ['starts with', 'does not start with'],
  STR_CONTAINS: ['contains', 'does not contain'],
  NUM_EQ: ['equals', 'does not equal'],
  NUM_GT: ['is greater than', 'is at most'],
  NUM_GTE: ['is at least', 'is less than'],
  NUM_LT: ['is less than', 'is at least'],
  NUM_LTE: ['is at most', 'is greater than'],
  DATE_AFTER: ['is after', 'is not after'],
  DATE_BEFORE: ['is before', 'is not before'],
  SEMVER_EQ: ['is version', 'is not version'],
  SEMVER_GT: ['is a version above', 'is at most version'],
  SEMVER_LT: ['is a version below', 'is at least version'],
  SEMVER_GTE: ['is at least version', 'is a version below'],
  SEMVER_LTE: ['is at most version', 'is a version above'],
  REGEX: ['matches the pattern', 'does not match the pattern'],
};

/** A time in the zone and the notation of the reader, as browsers know them. */
export function timeOfReader(time: Date): string {
  return time.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
}

function dateText(value: string, timeText: (time: Date) => string): string {
  const time = new Date(value);
  return Number.isNaN(time.getTime()) ? value : timeText(time);
}

/**
 * A constraint in words, such as `country is no or se`. Times are in the zone of the reader, if nothing else writes them. `valueCount`: how
 * many values it has, where only the first ones are known.
 */
export function constraintPhrase(
  {
    contextName,
    operator,
    inverted = false,
    caseInsensitive = false,
    values = [],
    valueCount = values.length,
    value = '',
  }: Constraint & { readonly valueCount?: number },
  timeText = timeOfReader,
): string {
  // An unknown operator is shown as it is.
  const [plain, opposite] = phrases[operator] ?? [operator, `not ${operator}`];
  const isList = operator === 'IN' || operator === 'NOT_IN' || operator.startsWith('STR_');
  const single = operator.startsWith('DATE_') ? dateText(value, timeText) : value;
  const compared = isList ? namedValues(values, valueCount) || 'anything in an empty list' : single;
  return `${contextName} ${inverted ? opposite : plain} ${compared}${caseInsensitive ? ' in any case' : ''}`;
}

function stickinessPhrase(stickiness: string | undefined): string {
  if (stickiness === 'random') return ', chosen at random for each evaluation';
  return stickiness === undefined || stickiness === 'default' ? '' : `, by ${stickiness}`;
}

function commaSeparated(text: string | undefined): string[] {
  return (text ?? '')
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

interface Audience {
  /** such as `25 % of users` */
  readonly users: string;
  /** how users are divided, such as `, by userId` */
  readonly division: string;
}

function audienceOf({ name, parameters = {} }: FeatureStrategy): Audience {
  const share = (percentage: string | undefined, stickiness: string | undefined): Audience => {
    if (percentage === undefined || Number(percentage) >= 100) return { users: 'everybody', division: '' };
    if (Number(percentage) <= 0) return { users: 'no user', division: '' };
    return { users: `${percentage} % of users`, division: stickinessPhrase(stickiness) };
  };
  switch (name) {
    case 'default':
      return { users: 'everybody', division: '' };
    case 'flexibleRollout':
      return share(parameters['rollout'], parameters['stickiness']);
    case 'gradualRolloutUserId':
      return share(parameters['percentage'], 'userId');
    case 'gradualRolloutSessionId':
      return share(parameters['percentage'], 'sessionId');
    case 'gradualRolloutRandom':
      return share(parameters['percentage'], 'random');
    case 'userWithId':
      return {
        users: `users with the id ${namedValues(commaSeparated(parameters['userIds'])) || '(none)'}`,
        division: '',
      };
    case 'remoteAddress':
      return {
        users: `users at the address ${namedValues(commaSeparated(parameters['IPs'])) || '(none)'}`,
        division: '',
      };
    case 'applicationHostname':
      return {
        users: `applications on the host ${namedValues(commaSeparated(parameters['hostNames'])) || '(none)'}`,
        division: '',
      };
    default:
      return { users: `users for whom the application’s own strategy ${name} is on`, division: '' };
  }
}

function variantsPhrase(variants: FeatureStrategy['variants']): string {
  if (variants === undefined || variants.length === 0) return '';
  return `, split into ${listOf(
    variants.map(({ name, weight }) => `${name} (${weight / 10} %)`),
    'and',
  )}`;
}

/**
 * A strategy as a sentence without its full stop, such as `25 % of users where country is no, by userId`.
 * @param segmentNames the names of segments by their ids; a segment that is absent is shown by its id
 */
export function strategySentence(
  strategy: FeatureStrategy,
  segmentNames: ReadonlyMap<number, string>,
  timeText = timeOfReader,
): string {
  const { constraints = [], segments = [], variants } = strategy;
  const { users, division } = audienceOf(strategy);
  const inSegments = segments.map((id) => segmentNames.get(id) ?? `segment ${id}`);
  const conditions = constraints.map((one) => constraintPhrase(one, timeText));
  const sentence = [
    users,
    ...(inSegments.length === 0 ? [] : [`in ${listOf(inSegments, 'and')}`]),
    ...(conditions.length === 0 ? [] : [`where ${listOf(conditions, 'and')}`]),
  ].join(' ');
  return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}${division}${variantsPhrase(variants)}`;
}

/** Whether a strategy is on for every user of an application. */
export function reachesEverybody({
  name,
  disabled,
  parameters = {},
  constraints = [],
  segments = [],
}: FeatureStrategy): boolean {
  if (disabled === true || constraints.length > 0 || segments.length > 0) return false;
  if (name === 'default') return true;
  const percentage = name === 'flexibleRollout' ? parameters['rollout'] : parameters['percentage'];
  return (name === 'flexibleRollout' || name.startsWith('gradualRollout')) && Number(percentage ?? 100) >= 100;
}
