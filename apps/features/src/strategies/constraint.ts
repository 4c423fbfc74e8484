import {
  type Constraint,
  constraintKey,
  invalidProperty,
  limitExceeded,
  operandError,
  invalidProperties,
  operandOf,
} from '@bunting/contracts';
import { RE2JS } from 're2js';
import { contextFieldNotFound, emptyValue, shortName } from '../refusals.ts';
import type { ContextFieldReference, ProjectContext } from '../projects/project-context.ts';
import { fixedResourceLimits } from '../names.ts';

function hasSingleValue({ operator }: Constraint): boolean {
  return operandOf[operator] !== 'values';
}

/** Refuses `REGEX` where it is not allowed, and patterns that RE2 does not accept or that are too slow to match. */
function requireUsableRegex(
  { operator, value = '', caseInsensitive = false }: Constraint,
  allowsRegex: boolean,
  path: string,
): void {
  if (operator !== 'REGEX') return;
  if (!allowsRegex) {
    throw invalidProperty(
      'The operator REGEX is turned off, because SDKs that do not know it match no user; the setting FEATURES_ALLOW_REGEX of the features service turns it on',
      `${path}/operator`,
    );
  }
  let instructions = 0;
  try {
    instructions = RE2JS.compile(value, caseInsensitive ? RE2JS.CASE_INSENSITIVE : 0).programSize();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw invalidProperty(`The pattern is not a regular expression of RE2: ${shortName(reason)}`, `${path}/value`);
  }
  if (instructions <= fixedResourceLimits.regexInstructions) return;
  throw invalidProperty(
    `The pattern compiles to ${instructions} instructions, and the limit is ${fixedResourceLimits.regexInstructions}; use smaller repetitions`,
    `${path}/value`,
  );
}

/**
 * Validates a constraint without its context field, and returns its stored form: the operand that its operator requires, and all defaults.
 */
function normalizeConstraint(constraint: Constraint, path: string, allowsRegex: boolean): Constraint {
  const { contextName, operator, inverted = false, caseInsensitive = false } = constraint;
  if (contextName === '') throw emptyValue(`${path}/contextName`);
  const fault = operandError(constraint, path);
  if (fault !== undefined) throw invalidProperties([fault]);
  requireUsableRegex(constraint, allowsRegex, path);
  const { values = [], value = '' } = constraint;
  return hasSingleValue(constraint)
    ? { contextName, operator, values: [], value, inverted, caseInsensitive }
    : { contextName, operator, values, inverted, caseInsensitive };
}

function requireLegalValues(constraint: Constraint, field: ContextFieldReference, path: string): void {
  // A pattern is matched against values, so it need not be a legal value.
  if (field.legalValues.length === 0 || constraint.operator === 'REGEX') return;
  const legal = new Set(field.legalValues.map(({ value }) => value));
  if (hasSingleValue(constraint)) {
    const { value = '' } = constraint;
    if (!legal.has(value)) {
      throw invalidProperty(
        `${shortName(value)} is not specified as a legal value on this context field`,
        `${path}/value`,
      );
    }
  } else if (!constraint.values?.every((value) => legal.has(value))) {
    throw invalidProperty('input values are not specified as a legal value on this context field', `${path}/values`);
  }
}

/**
 * The maximum number of values of the replaced constraints with the same field and operator: a list of values beyond the limit may stay,
 * but not grow.
 */
function previousValueCount(before: readonly Constraint[], { contextName, operator }: Constraint): number {
  return Math.max(
    0,
    ...before
      .filter((other) => other.contextName === contextName && other.operator === operator)
      .map(({ values = [] }) => values.length),
  );
}

export interface ConstraintValidationOptions {
  readonly projectContext: Pick<ProjectContext, 'contextFields' | 'allowsRegex'>;
  /** the constraints that are replaced; unchanged ones are not validated */
  readonly before?: readonly Constraint[];
  /** the JSON pointer of the constraints in the request */
  readonly path?: string;
}

interface SingleConstraintOptions {
  readonly allowsRegex: boolean;
  /** the JSON pointer of the constraint in the request */
  readonly path: string;
  /** how many values the constraint may have beyond the limit: a list of more may stay, but not grow */
  readonly allowedValues?: (constraint: Constraint) => number;
}

/**
 * Validates one constraint against its context field, and returns it as it is stored.
 * @throws 400 for a constraint that is not valid or has too many values, 404 for an unknown context field
 */
export function validateConstraint(
  constraint: Constraint,
  field: ContextFieldReference | undefined,
  { allowsRegex, path, allowedValues = () => 0 }: SingleConstraintOptions,
): Constraint {
  const normalized = normalizeConstraint(constraint, path, allowsRegex);
  const { contextName, values = [] } = normalized;
  if (values.length > Math.max(fixedResourceLimits.valuesPerConstraint, allowedValues(normalized))) {
    throw limitExceeded(
      `constraint values for ${shortName(contextName)}`,
      fixedResourceLimits.valuesPerConstraint,
      `${path}/values`,
    );
  }
  if (field === undefined) throw contextFieldNotFound(contextName);
  requireLegalValues(normalized, field, path);
  return normalized;
}

/** The stored constraints by their meaning. An unchanged one is not validated: a field that was deleted since, or whose legal values
 * changed, must not lock what names it. */
function unchangedAmong(before: readonly Constraint[]) {
  const stored = new Map(before.map((constraint) => [constraintKey(constraint), constraint]));
  return (constraint: Constraint): Constraint | undefined => stored.get(constraintKey(constraint));
}

/** Validates the constraints of a strategy against the limits and their context fields, and returns their stored form. */
export function validateConstraints(
  constraints: readonly Constraint[],
  { projectContext: { contextFields, allowsRegex }, before = [], path = '/constraints' }: ConstraintValidationOptions,
): readonly Constraint[] {
  if (constraints.length > Math.max(fixedResourceLimits.constraintsPerStrategy, before.length)) {
    throw limitExceeded('constraints', fixedResourceLimits.constraintsPerStrategy, path);
  }
  const unchanged = unchangedAmong(before);
  return constraints.map(
    (constraint, index) =>
      unchanged(constraint) ??
      validateConstraint(constraint, contextFields.get(constraint.contextName), {
        allowsRegex,
        path: `${path}/${index}`,
        allowedValues: (normalized) => previousValueCount(before, normalized),
      }),
  );
}

/** Validates the constraints of a segment like those of a strategy, but by the limit of all their values together. */
export function validateSegmentConstraints(
  constraints: readonly Constraint[],
  { projectContext: { contextFields, allowsRegex }, before = [], path = '/constraints' }: ConstraintValidationOptions,
): readonly Constraint[] {
  const unchanged = unchangedAmong(before);
  const validated = constraints.map(
    (constraint, index) =>
      unchanged(constraint) ??
      validateConstraint(constraint, contextFields.get(constraint.contextName), {
        allowsRegex,
        path: `${path}/${index}`,
        allowedValues: () => Infinity,
      }),
  );
  const valuesIn = (list: readonly Constraint[]): number =>
    list.reduce((sum, { values = [] }) => sum + values.length, 0);
  if (valuesIn(validated) > Math.max(fixedResourceLimits.valuesPerSegment, valuesIn(before))) {
    throw invalidProperty(`Segments may not have more than ${fixedResourceLimits.valuesPerSegment} values`, path);
  }
  return validated;
}
