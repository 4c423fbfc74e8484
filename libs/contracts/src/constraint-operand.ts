import { type ErrorDetail } from './errors.ts';
import { type Constraint, type ConstraintOperator, constraintOperators } from './model/strategies/constraint.ts';
import { datePattern } from './model/patterns.ts';
import { exactNumbers } from './lenient-schema.ts';
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
/** A decimal number with an exponent of at most two digits, so that it is finite. */
const documentedNumber = String.raw`^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]{1,2})?$`;

const numeral = '(0|[1-9][0-9]{0,14})';
const label = '(0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)';
/** Semantic versioning 2.0.0, with numbers that a double holds exactly. */
const semver = String.raw`^${numeral}\.${numeral}\.${numeral}(-${label}(\.${label})*)?(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?$`;
const version = new RegExp(semver);

const isoDate = /^\d{4}-\d\d-(\d\d)(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[-+]\d\d:?\d\d)?)?$/;

/** True for a date, with or without a time, that the calendar has: there is no 30th of February. */
const isDate = (text: string): boolean => {
  const day = isoDate.exec(text)?.[1];
  return (
    day !== undefined && Number.isFinite(Date.parse(text)) && new Date(text.slice(0, 10)).getUTCDate() === Number(day)
  );
};

const mustBe = (rule: string, path: string, sent: unknown): ErrorDetail => ({
  message: `The \`${path}\` property must ${rule}. You provided ${quoteValue(sent)}.`,
  path,
});

const faultOfValues = (values: readonly string[], basePath: string): ErrorDetail | undefined => {
  if (values.length === 0) return mustBe('contain at least 1 items', basePath, values);
  for (const [index, value] of values.entries()) {
    const path = `${basePath}/${index}`;
    if (value === '') return { message: `The \`${path}\` property is not allowed to be empty.`, path };
    if (value.length > maxValueLength) return mustBe(`be at most ${maxValueLength} characters long`, path, value);
  }
  return undefined;
};

const faultOfValue = (operand: Operand, value: string, path: string): ErrorDetail | undefined => {
  const why = (reason: string): ErrorDetail => ({ message: `${reason}: see the \`${path}\` property.`, path });
  if (value === '') return why('Single-value constraint operators require a non-empty value');
  // The length is checked before any regular expression is matched.
  if (value.length > maxValueLength) return mustBe(`be at most ${maxValueLength} characters long`, path, value);
  if (operand === 'number' && !(number.test(value) && Number.isFinite(Number(value))))
    return mustBe('be a number', path, value);
  if (operand === 'date' && !isDate(value)) return mustBe('be a valid date', path, value);
  if (operand === 'version' && !version.test(value))
    return why(`the provided value is not a valid semver format. The value provided was: ${value}`);
  return undefined;
};

/** The error of a constraint's operand at the JSON pointer `at`; undefined when it fits the operator. */
export const operandError = (
  { operator, values = [], value = '' }: Constraint,
  basePath: string,
): ErrorDetail | undefined => {
  const operand = operandOf[operator];
  return operand === 'values'
    ? faultOfValues(values, `${basePath}/values`)
    : faultOfValue(operand, value, `${basePath}/value`);
};

const operatorsOf = (wanted: Operand): ConstraintOperator[] =>
  constraintOperators.filter((operator) => operandOf[operator] === wanted);

const oneValue = (operand: Operand, value: object) => ({
  title: operand,
  type: 'object',
  properties: {
    operator: { type: 'string', enum: operatorsOf(operand) },
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
      operator: { type: 'string', enum: operatorsOf('values') },
      values: {
        type: 'array',
        minItems: 1,
        items: { type: ['string', 'number', 'boolean'], minLength: 1, maxLength: maxValueLength, ...exactNumbers },
      },
    },
    required: ['operator', 'values'],
  },
  oneValue('number', { type: ['string', 'number'], documentedPattern: documentedNumber, ...exactNumbers }),
  oneValue('date', { type: 'string', documentedPattern: `^${datePattern}$` }),
  oneValue('version', { type: 'string', documentedPattern: semver }),
  oneValue('pattern', { type: 'string' }),
];
