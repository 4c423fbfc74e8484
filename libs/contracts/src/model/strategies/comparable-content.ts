import { operandOf } from '../../constraint-operand.ts';
import { isEqual } from '../../is-equal.ts';
import { isJsonObject, type JsonObject, memberOf } from '../../json-object.ts';

/** A constraint by its meaning: with all defaults, and with the operand of its operator alone. */
const comparableConstraint = (constraint: unknown): unknown => {
  if (!isJsonObject(constraint)) return constraint;
  const { values = [], value = '', inverted, caseInsensitive, ...rest } = constraint;
  const operand = memberOf(operandOf, String(constraint['operator']));
  return {
    ...rest,
    inverted: inverted ?? false,
    caseInsensitive: caseInsensitive ?? false,
    ...(operand === 'values' ? { values } : { value }),
  };
};

const comparableVariant = (variant: unknown): unknown => {
  if (!isJsonObject(variant)) return variant;
  const { weightType, stickiness, overrides, ...rest } = variant;
  return {
    ...rest,
    weightType: weightType ?? 'variable',
    stickiness: stickiness ?? 'default',
    overrides: overrides ?? [],
  };
};

const emptyTextAsNull = (value: unknown): unknown => (value === '' ? null : (value ?? null));

const comparableLegalValue = (legalValue: unknown): unknown =>
  isJsonObject(legalValue) ? { ...legalValue, description: emptyTextAsNull(legalValue['description']) } : legalValue;

const listOf =
  (comparable: (item: unknown) => unknown) =>
  (value: unknown): unknown =>
    Array.isArray(value) ? value.map(comparable) : (value ?? []);

/** By name of a member: its value in the form in which values of the same meaning are equal. */
const comparableForms = new Map<string, (value: unknown) => unknown>([
  ['title', emptyTextAsNull],
  ['description', emptyTextAsNull],
  ['parameters', (value) => value ?? {}],
  ['constraints', listOf(comparableConstraint)],
  ['variants', listOf(comparableVariant)],
  ['legalValues', listOf(comparableLegalValue)],
  // All segments must match, so neither their order nor a repetition means anything.
  [
    'segments',
    (value) => (Array.isArray(value) ? [...new Set(value)].sort((one, other) => one - other) : (value ?? [])),
  ],
]);

/**
 * A member of a strategy, segment or context field in the form in which values of the same meaning are equal: absent, null and default values, the order
 * of segments, and an operand that the operator does not take make no difference.
 */
export const comparableMember = (name: string, value: unknown): unknown =>
  (comparableForms.get(name) ?? ((other: unknown): unknown => other ?? null))(value);

/** A constraint of the same meaning has the same key. */
export const constraintKey = (constraint: object): string => {
  const comparable = comparableConstraint(constraint) as JsonObject;
  return JSON.stringify(Object.entries(comparable).toSorted(([one], [other]) => (one < other ? -1 : 1)));
};

/** Whether two strategies, segments or context fields mean the same. What writes nothing new is no change, wherever it is compared. */
export const isEqualContent = (one: object, other: object): boolean =>
  [...new Set([...Object.keys(one), ...Object.keys(other)])].every((name) =>
    isEqual(comparableMember(name, memberOf(one, name)), comparableMember(name, memberOf(other, name))),
  );
