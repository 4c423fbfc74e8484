import type { Constraint, ConstraintOperator } from '@bunting/contracts';
import { invalid, notFound } from '@bunting/contracts';
import { parse as parseVersion } from 'semver';
import { mustBe, named, tooMany, wrong } from './refusals.ts';
import { type ContextField, limits } from './surroundings.ts';

type Operand = 'values' | 'number' | 'date' | 'version';

const operands: Readonly<Record<ConstraintOperator, Operand>> = {
  NOT_IN: 'values',
  IN: 'values',
  STR_ENDS_WITH: 'values',
  STR_STARTS_WITH: 'values',
  STR_CONTAINS: 'values',
  NUM_EQ: 'number',
  NUM_GT: 'number',
  NUM_GTE: 'number',
  NUM_LT: 'number',
  NUM_LTE: 'number',
  DATE_AFTER: 'date',
  DATE_BEFORE: 'date',
  SEMVER_EQ: 'version',
  SEMVER_GT: 'version',
  SEMVER_LT: 'version',
  SEMVER_GTE: 'version',
  SEMVER_LTE: 'version',
};

const longestValue = 100;

const isNumber = (text: string): boolean => /^[-+0-9.eE]+$/.test(text) && Number.isFinite(Number(text));

const isoDate = /^\d{4}-\d\d-(\d\d)(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[-+]\d\d:?\d\d)?)?$/;

/** True for a date, with or without a time, that the calendar has: there is no 30th of February. */
const isDate = (text: string): boolean => {
  const day = isoDate.exec(text)?.[1];
  return (
    day !== undefined && Number.isFinite(Date.parse(text)) && new Date(text.slice(0, 10)).getUTCDate() === Number(day)
  );
};

const isVersion = (text: string): boolean => /^\d/.test(text) && text === text.trim() && parseVersion(text) !== null;

const requireValues = (values: readonly string[], at: string): void => {
  if (values.length === 0) throw mustBe('contain at least 1 items', `${at}/values`, values);
  for (const [index, value] of values.entries()) {
    if (value === '')
      throw invalid(`The \`${at}/values/${index}\` property is not allowed to be empty.`, `${at}/values/${index}`);
    if (value.length > longestValue)
      throw mustBe(`be at most ${longestValue} characters long`, `${at}/values/${index}`, value);
  }
};

const requireOperand = (operand: Operand, value: string | undefined, at: string): string => {
  const path = `${at}/value`;
  if (value === undefined || value === '') {
    throw wrong('Single-value constraint operators require a non-empty value', path);
  }
  if (value.length > longestValue) throw mustBe(`be at most ${longestValue} characters long`, path, value);
  if (operand === 'number' && !isNumber(value)) throw mustBe('be a number', path, value);
  if (operand === 'date' && !isDate(value)) throw mustBe('be a valid date', path, value);
  if (operand === 'version' && !isVersion(value)) {
    throw wrong(`the provided value is not a valid semver format. The value provided was: ${named(value)}`, path);
  }
  return value;
};

/** One constraint as it is stored: it has the operand that its operator takes, and every default is filled in. */
export const normalConstraint = (constraint: Constraint, at: string): Constraint => {
  const { contextName, operator, inverted = false, caseInsensitive = false } = constraint;
  if (contextName === '')
    throw invalid(`The \`${at}/contextName\` property is not allowed to be empty.`, `${at}/contextName`);
  const operand = operands[operator];
  if (operand === 'values') {
    const { values = [] } = constraint;
    requireValues(values, at);
    return { contextName, operator, values, inverted, caseInsensitive };
  }
  const value = requireOperand(operand, constraint.value, at);
  return { contextName, operator, values: [], value, inverted, caseInsensitive };
};

const isSingle = ({ operator }: Constraint): boolean => operands[operator] !== 'values';

const requireLegal = (constraint: Constraint, field: ContextField, at: string): void => {
  if (field.legalValues.length === 0) return;
  const legal = new Set(field.legalValues.map(({ value }) => value));
  if (isSingle(constraint)) {
    const { value = '' } = constraint;
    if (!legal.has(value)) {
      throw wrong(`${named(value)} is not specified as a legal value on this context field`, `${at}/value`);
    }
  } else if (!constraint.values?.every((value) => legal.has(value))) {
    throw wrong('input values are not specified as a legal value on this context field', `${at}/values`);
  }
};

/** The same for two constraints that mean the same, whatever the order of their members. */
const meaningOf = ({
  contextName,
  operator,
  values = [],
  value,
  inverted = false,
  caseInsensitive = false,
}: Constraint): string => JSON.stringify([contextName, operator, values, value, inverted, caseInsensitive]);

/** How many values a constraint on the field held already: a set that is too large may stay, but not grow. */
const largestBefore = (before: readonly Constraint[], { contextName, operator }: Constraint): number =>
  Math.max(
    0,
    ...before
      .filter((other) => other.contextName === contextName && other.operator === operator)
      .map(({ values = [] }) => values.length),
  );

export interface ConstraintRules {
  readonly contextFields: ReadonlyMap<string, ContextField>;
  /** the constraints that are to be replaced; those that stay as they were are not judged again */
  readonly before?: readonly Constraint[];
  /** where the constraints stand in the request */
  readonly at?: string;
}

/** The constraints of a strategy as they are stored. */
export const validatedConstraints = (
  constraints: readonly Constraint[],
  { contextFields, before = [], at = '/constraints' }: ConstraintRules,
): readonly Constraint[] => {
  if (constraints.length > Math.max(limits.constraintsPerStrategy, before.length)) {
    throw tooMany('constraints', limits.constraintsPerStrategy, at);
  }
  const known = new Map(before.map((constraint) => [meaningOf(constraint), constraint]));
  return constraints.map((constraint, index) => {
    // A field that was deleted since, or whose legal values changed, must not lock the strategy that names it.
    const same = known.get(meaningOf(constraint));
    if (same !== undefined) return same;

    const path = `${at}/${index}`;
    const normal = normalConstraint(constraint, path);
    const { contextName, values = [] } = normal;
    if (values.length > Math.max(limits.valuesPerConstraint, largestBefore(before, normal))) {
      throw tooMany(`constraint values for ${named(contextName)}`, limits.valuesPerConstraint, `${path}/values`);
    }
    const field = contextFields.get(contextName);
    if (field === undefined) throw notFound(`Could not find Context field with name ${named(contextName)}`);
    requireLegal(normal, field, path);
    return normal;
  });
};

/** Holds one constraint, wherever it will stand, to all that is said of constraints on its field. */
export const requireValidConstraint = (constraint: Constraint, field: ContextField | undefined, at = '/body'): void => {
  const normal = normalConstraint(constraint, at);
  const { contextName, values = [] } = normal;
  if (values.length > limits.valuesPerConstraint) {
    throw tooMany(`constraint values for ${named(contextName)}`, limits.valuesPerConstraint, `${at}/values`);
  }
  if (field === undefined) throw notFound(`Could not find Context field with name ${named(contextName)}`);
  requireLegal(normal, field, at);
};
