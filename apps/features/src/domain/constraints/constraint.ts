import { type Constraint, operandError, invalid, invalidAll, notFound, operandOf } from '@bunting/contracts';
import { shortName, limitExceeded, invalidProperty } from '../refusals.ts';
import { type ContextField, limits } from '../project-context.ts';

const isSingle = ({ operator }: Constraint): boolean => operandOf[operator] !== 'values';

/** One constraint as it is stored: it has the operand that its operator takes, and every default is filled in. */
export const normalizeConstraint = (constraint: Constraint, at: string): Constraint => {
  const { contextName, operator, inverted = false, caseInsensitive = false } = constraint;
  if (contextName === '')
    throw invalid(`The \`${at}/contextName\` property is not allowed to be empty.`, `${at}/contextName`);
  const fault = operandError(constraint, at);
  if (fault !== undefined) throw invalidAll([fault]);
  const { values = [], value = '' } = constraint;
  return isSingle(constraint)
    ? { contextName, operator, values: [], value, inverted, caseInsensitive }
    : { contextName, operator, values, inverted, caseInsensitive };
};

const requireLegalValues = (constraint: Constraint, field: ContextField, at: string): void => {
  if (field.legalValues.length === 0) return;
  const legal = new Set(field.legalValues.map(({ value }) => value));
  if (isSingle(constraint)) {
    const { value = '' } = constraint;
    if (!legal.has(value)) {
      throw invalidProperty(
        `${shortName(value)} is not specified as a legal value on this context field`,
        `${at}/value`,
      );
    }
  } else if (!constraint.values?.every((value) => legal.has(value))) {
    throw invalidProperty('input values are not specified as a legal value on this context field', `${at}/values`);
  }
};

/** The same for two constraints that mean the same, whatever the order of their members. */
const identityOf = ({
  contextName,
  operator,
  values = [],
  value,
  inverted = false,
  caseInsensitive = false,
}: Constraint): string => JSON.stringify([contextName, operator, values, value, inverted, caseInsensitive]);

/** How many values a constraint on the field held already: a set that is too large may stay, but not grow. */
const previousSize = (before: readonly Constraint[], { contextName, operator }: Constraint): number =>
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
export const validateConstraints = (
  constraints: readonly Constraint[],
  { contextFields, before = [], at = '/constraints' }: ConstraintRules,
): readonly Constraint[] => {
  if (constraints.length > Math.max(limits.constraintsPerStrategy, before.length)) {
    throw limitExceeded('constraints', limits.constraintsPerStrategy, at);
  }
  const known = new Map(before.map((constraint) => [identityOf(constraint), constraint]));
  return constraints.map((constraint, index) => {
    // A field that was deleted since, or whose legal values changed, must not lock the strategy that names it.
    const same = known.get(identityOf(constraint));
    if (same !== undefined) return same;

    const path = `${at}/${index}`;
    const normal = normalizeConstraint(constraint, path);
    const { contextName, values = [] } = normal;
    if (values.length > Math.max(limits.valuesPerConstraint, previousSize(before, normal))) {
      throw limitExceeded(
        `constraint values for ${shortName(contextName)}`,
        limits.valuesPerConstraint,
        `${path}/values`,
      );
    }
    const field = contextFields.get(contextName);
    if (field === undefined) throw notFound(`Could not find Context field with name ${shortName(contextName)}`);
    requireLegalValues(normal, field, path);
    return normal;
  });
};

/** Holds one constraint, wherever it will stand, to all that is said of constraints on its field. */
export const requireValidConstraint = (constraint: Constraint, field: ContextField | undefined, at = '/body'): void => {
  const normal = normalizeConstraint(constraint, at);
  const { contextName, values = [] } = normal;
  if (values.length > limits.valuesPerConstraint) {
    throw limitExceeded(`constraint values for ${shortName(contextName)}`, limits.valuesPerConstraint, `${at}/values`);
  }
  if (field === undefined) throw notFound(`Could not find Context field with name ${shortName(contextName)}`);
  requireLegalValues(normal, field, at);
};
