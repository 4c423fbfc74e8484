import { type ErrorDetail } from './errors.ts';
import { type Constraint, type ConstraintOperator, constraintOperators } from './model/strategies/constraint.ts';
import { datePattern } from './model/documented-patterns.ts';
import { exactIntegerRange } from './lenient-schema.ts';
import { quoteValue } from './text/quote-value.ts';

/** The kind of operand that a constraint compares with. */
export type Operand = 'values' | 'number' | 'date' | 'version' | 'pattern';

/** The operand that each operator takes. */
export const operandOf: Readonly<Record<ConstraintOperator, Operand>> = {
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
  REGEX: 'pattern',
};

const maxValueLength = 100;

const number = /^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$/;
/** `number` for the OpenAPI document, with an exponent of at most two digits, so that the number is finite. */
const documentedNumber = String.raw`^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]{1,2})?$`;

/** A number without leading zeros that a double holds exactly. */
const numeral = '(0|[1-9][0-9]{0,14})';
/** An identifier of a pre-release. */
const label = '(0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)';
/** A version by Semantic Versioning 2.0.0. */
const semver = String.raw`^${numeral}\.${numeral}\.${numeral}(-${label}(\.${label})*)?(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?$`;
const version = new RegExp(semver);

const isoDate = /^\d{4}-\d\d-(\d\d)(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[-+]\d\d:?\d\d)?)?$/;

/** Whether a text is a date, with or without a time, that exists in the calendar: 30 February does not. */
const isDate = (text: string): boolean => {
  const day = isoDate.exec(text)?.[1];
  return (
    day !== undefined && Number.isFinite(Date.parse(text)) && new Date(text.slice(0, 10)).getUTCDate() === Number(day)
  );
};

const brokenRule = (rule: string, path: string, value: unknown): ErrorDetail => ({
  message: `The \`${path}\` property must ${rule}. You provided ${quoteValue(value)}.`,
  path,
});

const errorOfValues = (values: readonly string[], basePath: string): ErrorDetail | undefined => {
  if (values.length === 0) return brokenRule('contain at least 1 items', basePath, values);
  for (const [index, value] of values.entries()) {
    const path = `${basePath}/${index}`;
    if (value === '') return { message: `The \`${path}\` property is not allowed to be empty.`, path };
    if (value.length > maxValueLength) return brokenRule(`be at most ${maxValueLength} characters long`, path, value);
  }
  return undefined;
};

const errorOfValue = (operand: Operand, value: string, path: string): ErrorDetail | undefined => {
  const detailFor = (reason: string): ErrorDetail => ({ message: `${reason}: see the \`${path}\` property.`, path });
  if (value === '') return detailFor('Single-value constraint operators require a non-empty value');
  // The length is checked before any regular expression is matched.
  if (value.length > maxValueLength) return brokenRule(`be at most ${maxValueLength} characters long`, path, value);
  if (operand === 'number' && !(number.test(value) && Number.isFinite(Number(value))))
    return brokenRule('be a number', path, value);
  if (operand === 'date' && !isDate(value)) return brokenRule('be a valid date', path, value);
  if (operand === 'version' && !version.test(value))
    return detailFor(`the provided value is not a valid semver format. The value provided was: ${value}`);
  return undefined;
};

/**
 * The error of a constraint's operand, for the details of a refusal; undefined when the operand fits the operator.
 * @param basePath JSON pointer of the constraint within the request
 */
export const operandError = (
  { operator, values = [], value = '' }: Constraint,
  basePath: string,
): ErrorDetail | undefined => {
  const operand = operandOf[operator];
  return operand === 'values'
    ? errorOfValues(values, `${basePath}/values`)
    : errorOfValue(operand, value, `${basePath}/value`);
};

const operatorsWith = (operand: Operand): ConstraintOperator[] =>
  constraintOperators.filter((operator) => operandOf[operator] === operand);

/** The branch of an operand that is one value. @param value additional keywords of the value */
const singleValueBranch = (operand: Operand, value: object) => ({
  title: operand,
  type: 'object',
  properties: {
    operator: { type: 'string', enum: operatorsWith(operand) },
    value: { minLength: 1, maxLength: maxValueLength, ...value },
  },
  required: ['operator', 'value'],
});

/** The rules of `operandError` as JSON Schema for the OpenAPI document, one branch for each kind of operand. */
export const documentedOperands = [
  {
    title: 'values',
    type: 'object',
    properties: {
      operator: { type: 'string', enum: operatorsWith('values') },
      values: {
        type: 'array',
        minItems: 1,
        items: { type: ['string', 'number', 'boolean'], minLength: 1, maxLength: maxValueLength, ...exactIntegerRange },
      },
    },
    required: ['operator', 'values'],
  },
  singleValueBranch('number', {
    type: ['string', 'number'],
    documentedPattern: documentedNumber,
    ...exactIntegerRange,
  }),
  singleValueBranch('date', { type: 'string', documentedPattern: `^${datePattern}$` }),
  singleValueBranch('version', { type: 'string', documentedPattern: semver }),
  singleValueBranch('pattern', { type: 'string' }),
];
