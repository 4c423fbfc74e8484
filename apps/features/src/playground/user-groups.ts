import type { Constraint } from '@bunting/contracts';
import type { Strategy } from '../features/feature.ts';
import type { PlaygroundContent } from './playground-content.ts';

/** The maximum number of values of one constraint, or of one list in the parameters of a strategy. */
const maxValuesOfList = 4;

const minuteMs = 60_000;

const shiftNumber = (value: string | undefined, difference: number): string[] => {
  const number = Number(value);
  return value === undefined || !Number.isFinite(number) ? [] : [String(number + difference)];
};

const shiftDate = (value: string | undefined, minutes: number): string[] => {
  const time = Date.parse(value ?? '');
  return Number.isNaN(time) ? [] : [new Date(time + minutes * minuteMs).toISOString()];
};

/**
 * Example values for a constraint, on both sides of its operand where it is a bound. The first one satisfies the constraint, unless it is
 * inverted or `NOT_IN`.
 */
const valuesFor = ({ operator, values = [], value }: Constraint): string[] => {
  if (operator.startsWith('NUM_')) {
    if (operator === 'NUM_GT') return [...shiftNumber(value, 1), ...shiftNumber(value, 0)];
    if (operator === 'NUM_LT') return [...shiftNumber(value, -1), ...shiftNumber(value, 0)];
    return [...shiftNumber(value, 0), ...shiftNumber(value, operator === 'NUM_GTE' ? -1 : 1)];
  }
  if (operator === 'DATE_AFTER') return [...shiftDate(value, 1), ...shiftDate(value, -1)];
  if (operator === 'DATE_BEFORE') return [...shiftDate(value, -1), ...shiftDate(value, 1)];
  if (operator === 'SEMVER_GT') return ['99999.0.0', '0.0.0'];
  if (operator === 'SEMVER_LT') return ['0.0.0', '99999.0.0'];
  if (operator.startsWith('SEMVER_')) return value === undefined ? [] : [value, '0.0.0', '99999.0.0'];
  return values.slice(0, maxValuesOfList);
};

/** The parameters of strategies that are lists of values, with the context field that each is compared with. */
const listParameters = [
  ['userIds', 'userId'],
  ['IPs', 'remoteAddress'],
  ['hostNames', 'hostname'],
] as const;

type Condition = readonly [field: string, values: readonly string[]];

/** The values that a strategy compares, by context field. */
export const conditionsOf = (
  { name, constraints, segments, parameters }: Strategy,
  content: PlaygroundContent,
): readonly Condition[] => {
  const ofSegments = content.segments.filter(({ id }) => segments.includes(id));
  const allConstraints = [...constraints, ...ofSegments.flatMap((segment) => segment.constraints)];
  const lists = name === 'flexibleRollout' ? [] : listParameters;
  return [
    ...allConstraints.map((constraint): Condition => [constraint.contextName, valuesFor(constraint)]),
    ...lists.flatMap(([parameter, field]): Condition[] => {
      const values = parameters[parameter]?.split(',').map((item) => item.trim()) ?? [];
      return values.length === 0 ? [] : [[field, values.filter((item) => item !== '').slice(0, maxValuesOfList)]];
    }),
  ];
};

/** Every combination of the values; undefined if there are more than the limit. The first combination has no value. */
const combinations = (conditions: readonly Condition[], limit: number): UserFields[] | undefined => {
  const byField = new Map<string, Set<string>>();
  for (const [field, values] of conditions) {
    const valuesOfField = byField.get(field) ?? new Set();
    for (const value of values) valuesOfField.add(value);
    byField.set(field, valuesOfField);
  }
  let groups: UserFields[] = [new Map()];
  for (const [field, values] of byField) {
    if (groups.length * (values.size + 1) > limit) return undefined;
    groups = [...groups, ...[...values].flatMap((value) => groups.map((group) => new Map([...group, [field, value]])))];
  }
  return groups;
};

/**
 * Groups of users for whom strategies may evaluate differently: every combination of values or, beyond the limit, those that satisfy each
 * strategy.
 */
export const groupsOf = (strategies: readonly (readonly Condition[])[], limit: number): UserFields[] => {
  const allCombinations = combinations(strategies.flat(), limit);
  if (allCombinations !== undefined) return allCombinations;
  const satisfying = strategies.map(
    (conditions): UserFields =>
      new Map(conditions.flatMap(([field, [value]]) => (value === undefined ? [] : [[field, value]]))),
  );
  const distinct = new Map(satisfying.map((fields) => [JSON.stringify([...fields]), fields]));
  return [new Map(), ...[...distinct.values()].filter(({ size }) => size > 0).slice(0, limit - 1)];
};

/** The context fields that assign users to rollouts and variants. */
export const stickyFieldsOf = (strategies: readonly Strategy[]): readonly string[] => {
  const fields = strategies.flatMap(({ parameters, variants }) => [
    parameters['stickiness'],
    ...(variants ?? []).map(({ stickiness }) => stickiness),
  ]);
  const named = fields.filter((field) => field !== undefined && field !== 'default' && field !== 'random');
  return [...new Set(['userId', 'sessionId', ...(named as string[])])];
};

/** The values of context fields of some users, by field. */
export type UserFields = ReadonlyMap<string, string>;
