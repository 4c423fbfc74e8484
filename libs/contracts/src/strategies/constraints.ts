import { type Static, Type } from 'typebox';
import type { ErrorDetail } from '../errors.ts';
import { exactIntegerRange } from '../lenient-schema.ts';
import { datePattern, notEmpty } from '../schemas.ts';
import { isEqual, isJsonObject, type JsonObject, memberOf, quoteValue } from '../values.ts';

/**
 * The constraint operators. `SEMVER_GTE` and `SEMVER_LTE` exist in Unleash since 8.0.3; the features service refuses `REGEX` unless
 * `FEATURES_ALLOW_REGEX` is on.
 */
export const constraintOperators = [
  'NOT_IN',
  'IN',
  'STR_ENDS_WITH',
  'STR_STARTS_WITH',
  'STR_CONTAINS',
  'NUM_EQ',
  'NUM_GT',
  'NUM_GTE',
  'NUM_LT',
  'NUM_LTE',
  'DATE_AFTER',
  'DATE_BEFORE',
  'SEMVER_EQ',
  'SEMVER_GT',
  'SEMVER_LT',
  'SEMVER_GTE',
  'SEMVER_LTE',
  'REGEX',
] as const;
export type ConstraintOperator = (typeof constraintOperators)[number];

export const Constraint = Type.Object(
  {
    contextName: Type.String({ description: 'the name of the context field that the constraint applies to' }),
    operator: Type.Enum([...constraintOperators], {
      type: 'string',
      description: 'how the value of the context field is compared',
    }),
    caseInsensitive: Type.Optional(
      Type.Boolean({ default: false, description: 'whether upper and lower case are the same; default: false' }),
    ),
    inverted: Type.Optional(
      Type.Boolean({ default: false, description: 'whether the result is negated; default: false' }),
    ),
    values: Type.Optional(
      Type.Array(Type.String({ lenient: true }), {
        description: 'for operators that take several values; used instead of `value`',
      }),
    ),
    value: Type.Optional(
      Type.String({
        lenient: true,
        description: 'for operators that take a single value; used instead of `values`',
      }),
    ),
  },
  {
    title: 'constraintSchema',
    description: 'A condition on a context field that must hold for a strategy or a segment to match.',
    additionalProperties: false,
  },
);
export type Constraint = Static<typeof Constraint>;

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
function isDate(text: string): boolean {
  const day = isoDate.exec(text)?.[1];
  return (
    day !== undefined && Number.isFinite(Date.parse(text)) && new Date(text.slice(0, 10)).getUTCDate() === Number(day)
  );
}

function brokenRule(rule: string, path: string, value: unknown): ErrorDetail {
  return {
    message: `The \`${path}\` property must ${rule}. You provided ${quoteValue(value)}.`,
    path,
  };
}

function errorOfValues(values: readonly string[], basePath: string): ErrorDetail | undefined {
  if (values.length === 0) return brokenRule('contain at least 1 items', basePath, values);
  for (const [index, value] of values.entries()) {
    const path = `${basePath}/${index}`;
    if (value === '') return { message: `The \`${path}\` property is not allowed to be empty.`, path };
    if (value.length > maxValueLength) return brokenRule(`be at most ${maxValueLength} characters long`, path, value);
  }
  return undefined;
}

function errorOfValue(operand: Operand, value: string, path: string): ErrorDetail | undefined {
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
}

/**
 * The error of a constraint's operand, for the details of a refusal; undefined when the operand fits the operator.
 * @param basePath JSON pointer of the constraint within the request
 */
export function operandError(
  { operator, values = [], value = '' }: Constraint,
  basePath: string,
): ErrorDetail | undefined {
  const operand = operandOf[operator];
  return operand === 'values'
    ? errorOfValues(values, `${basePath}/values`)
    : errorOfValue(operand, value, `${basePath}/value`);
}

function operatorsWith(operand: Operand): ConstraintOperator[] {
  return constraintOperators.filter((operator) => operandOf[operator] === operand);
}

/** The branch of an operand that is one value. @param value additional keywords of the value */
function singleValueBranch(operand: Operand, value: object) {
  return {
    title: operand,
    type: 'object',
    properties: {
      operator: { type: 'string', enum: operatorsWith(operand) },
      value: { minLength: 1, maxLength: maxValueLength, ...value },
    },
    required: ['operator', 'value'],
  };
}

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

export const ConstraintBody = Type.Object(
  {
    ...Constraint.properties,
    contextName: Type.String({
      ...notEmpty,
      description: 'the name of the context field that the constraint applies to',
    }),
  },
  {
    title: 'constraintBodySchema',
    description: 'A condition on a context field, with the operand that its operator takes.',
    additionalProperties: false,
    operand: true,
    documentedAnyOf: documentedOperands,
  },
);

/** A constraint by its meaning: with all defaults, and with the operand of its operator alone. */
function comparableConstraint(constraint: unknown): unknown {
  if (!isJsonObject(constraint)) return constraint;
  const { values = [], value = '', inverted, caseInsensitive, ...rest } = constraint;
  const operand = memberOf(operandOf, String(constraint['operator']));
  return {
    ...rest,
    inverted: inverted ?? false,
    caseInsensitive: caseInsensitive ?? false,
    ...(operand === 'values' ? { values } : { value }),
  };
}

function comparableVariant(variant: unknown): unknown {
  if (!isJsonObject(variant)) return variant;
  const { weightType, stickiness, overrides, ...rest } = variant;
  return {
    ...rest,
    weightType: weightType ?? 'variable',
    stickiness: stickiness ?? 'default',
    overrides: overrides ?? [],
  };
}

function emptyTextAsNull(value: unknown): unknown {
  return value === '' ? null : (value ?? null);
}

function comparableLegalValue(legalValue: unknown): unknown {
  return isJsonObject(legalValue)
    ? { ...legalValue, description: emptyTextAsNull(legalValue['description']) }
    : legalValue;
}

function listOf(comparable: (item: unknown) => unknown) {
  return (value: unknown): unknown => (Array.isArray(value) ? value.map(comparable) : (value ?? []));
}

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
export function comparableMember(name: string, value: unknown): unknown {
  return (comparableForms.get(name) ?? ((other: unknown): unknown => other ?? null))(value);
}

/** A constraint of the same meaning has the same key. */
export function constraintKey(constraint: object): string {
  const comparable = comparableConstraint(constraint) as JsonObject;
  return JSON.stringify(Object.entries(comparable).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** Whether two strategies, segments or context fields mean the same. What writes nothing new is no change, wherever it is compared. */
export function isEqualContent(one: object, other: object): boolean {
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].every((name) =>
    isEqual(comparableMember(name, memberOf(one, name)), comparableMember(name, memberOf(other, name))),
  );
}
