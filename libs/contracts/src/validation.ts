import { Ajv, type AnySchemaObject, type ErrorObject, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import type { DataValidationCxt, SchemaValidateFunction } from 'ajv/dist/types/index.js';
import { type Static, type TSchema, Type } from 'typebox';
import {
  type Change,
  changeActions,
  changeSchemas,
  type FeatureChange,
  isSegmentChange,
  maxProposedChanges,
  type SegmentChange,
} from './changes/change.ts';
import { type ErrorDetail, invalid, invalidProperties, type Refusal } from './errors.ts';
import { coerce } from './lenient-schema.ts';
import { type Constraint, operandError } from './strategies/constraints.ts';
import { requireStorableText, type TextForm, textFormError } from './text.ts';
import { quoteValue, truncate } from './values.ts';

// Schemas are not validated themselves: TypeBox writes them, and compiling the schema of schemas would take each process 40 ms.
const options = {
  validateSchema: false,
  allErrors: false,
  ownProperties: true,
  strict: false,
  useDefaults: true,
  verbose: true,
} as const;
const strictAjv = new Ajv(options);
const coercingAjv = new Ajv({ ...options, coerceTypes: true });
for (const ajv of [strictAjv, coercingAjv]) {
  (addFormats as unknown as (ajv: Ajv) => void)(ajv);
  ajv.addKeyword({
    keyword: 'coerceTo',
    schemaType: 'string',
    before: 'allOf',
    modifying: true,
    errors: false,
    validate: (type: 'string' | 'number', value: unknown, _schema?: AnySchemaObject, context?: DataValidationCxt) => {
      if (context !== undefined) context.parentData[context.parentDataProperty] = coerce(type, value);
      return true;
    },
  });
}

for (const ajv of [strictAjv, coercingAjv]) {
  const hasForm: SchemaValidateFunction = (form: TextForm, text: string) => {
    const message = textFormError(form, text);
    hasForm.errors = message === undefined ? [] : [{ keyword: 'form', message }];
    return message === undefined;
  };
  ajv.addKeyword({ keyword: 'form', type: 'string', schemaType: 'string', errors: true, validate: hasForm });
  const hasTrimmedLength = (max: number, text: string) => [...text.trim()].length <= max;
  ajv.addKeyword({ keyword: 'maxTrimmedLength', type: 'string', schemaType: 'number', validate: hasTrimmedLength });
  // Ajv runs this keyword after `properties`, so the members of the constraint have their declared types here.
  const hasMatchingOperand = (_rule: true, constraint: Constraint) => operandError(constraint, '') === undefined;
  ajv.addKeyword({ keyword: 'operand', type: 'object', schemaType: 'boolean', validate: hasMatchingOperand });
}

const compiled = new Map<Ajv, WeakMap<TSchema, ValidateFunction>>([
  [strictAjv, new WeakMap()],
  [coercingAjv, new WeakMap()],
]);

function validatorOf(ajv: Ajv, schema: TSchema): ValidateFunction {
  const validators = compiled.get(ajv) as WeakMap<TSchema, ValidateFunction>;
  let validate = validators.get(schema);
  if (validate === undefined) {
    validate = ajv.compile(schema);
    validators.set(schema, validate);
  }
  return validate;
}

/** Formats an Ajv error as Unleash does (docs/behaviour.md, Errors). */
function detailOf(error: ErrorObject, basePath: string): ErrorDetail {
  const path = truncate(`${basePath}${error.instancePath}`, 1000);
  switch (error.keyword) {
    case 'required': {
      const missing = `${path}/${error.params['missingProperty'] as string}`;
      return {
        message: `The \`${missing}\` property is required. It was not present on the data you sent.`,
        path: missing,
      };
    }
    case 'additionalProperties': {
      const extra = truncate(error.params['additionalProperty'] as string, 200);
      const parent = error.instancePath === '' ? 'root' : `\`${path}\``;
      return {
        message: `The ${parent} object of the request does not allow additional properties. Your request included the \`${extra}\` property.`,
        path: `${path}/${extra}`,
      };
    }
    case 'enum': {
      const allowed = (error.params['allowedValues'] as unknown[]).map(quoteValue).join(', ');
      return {
        message: `The \`${path}\` property must be equal to one of the allowed values: ${allowed}. You provided ${quoteValue(error.data)}, which is not valid. Please use one of the allowed values instead.`,
        path,
      };
    }
    case 'type': {
      const types = [error.params['type'] as string | readonly string[]].flat().join(' or ');
      return { message: `The \`${path}\` property must be ${types}. You sent ${quoteValue(error.data)}.`, path };
    }
    case 'form': {
      const isEmpty = (error.data as string).trim() === '';
      const provided = isEmpty ? '' : ` You provided "${truncate(error.data as string, 200)}".`;
      return { message: `The \`${path}\` property ${error.message}.${provided}`, path };
    }
    case 'maxTrimmedLength':
      return { message: `The \`${path}\` property must be at most ${error.schema as number} characters long.`, path };
    case 'operand':
      return operandError(error.data as Constraint, path) as ErrorDetail;
    default:
      return {
        message: `The \`${path}\` property ${error.message ?? 'is not valid'}. You sent ${quoteValue(error.data)}.`,
        path,
      };
  }
}

/** The error details to report. A failed `T | null` is reported once, not once for each branch. */
function detailsOf(errors: readonly ErrorObject[], path: string): ErrorDetail[] {
  const isNullOnly = (error: ErrorObject): boolean => error.keyword === 'type' && error.params['type'] === 'null';
  const nullable = new Set(errors.filter(isNullOnly).map((error) => error.instancePath));
  const relevant = errors.filter((error) => error.keyword !== 'anyOf' && error.keyword !== 'if' && !isNullOnly(error));
  if (relevant.length === 0) return errors.map((error) => detailOf(error, path));
  return relevant.map((error) =>
    error.keyword === 'type' && nullable.has(error.instancePath)
      ? detailOf({ ...error, params: { type: [error.params['type'], 'null'] } }, path)
      : detailOf(error, path),
  );
}

/** How a value is encoded: `json` must have the types of the schema; `text`, such as a query, is converted to them. */
export type InputEncoding = 'json' | 'text';

/**
 * Validates a value against its schema and fills in defaults, in place.
 * @param path JSON pointer of the value within the request, e.g. `/body`; the prefix of every path in a refusal.
 * @throws Refusal `ValidationError` that names the invalid property.
 */
export function parse<S extends TSchema>(
  schema: S,
  value: unknown,
  path = '',
  encoding: InputEncoding = 'json',
): Static<S> {
  const validate = validatorOf(encoding === 'text' ? coercingAjv : strictAjv, schema);
  if (validate(value)) return value as Static<S>;
  throw invalidProperties(detailsOf(validate.errors ?? [], path));
}

/** Whether the value is valid. Fills in defaults, in place. */
export function matchesSchema<S extends TSchema>(schema: S, value: unknown): value is Static<S> {
  return validatorOf(strictAjv, schema)(value);
}

const AnyChanges = Type.Array(Type.Unknown(), { minItems: 1, maxItems: maxProposedChanges });
const AnyChange = Type.Object({
  action: Type.Enum([...changeActions], { type: 'string' }),
});

/**
 * Validates one change against the schema of its action.
 * @returns the change with the members `action`, `feature` (unless it is about a segment) and `payload` alone
 */
export function parseChange(value: unknown, path: string): Change {
  const { action } = parse(AnyChange, value, path);
  const change: Change = parse(changeSchemas[action], value, path);
  if (isSegmentChange(change)) return { action, payload: change.payload } as SegmentChange;
  return { action, feature: change.feature, payload: change.payload ?? {} } as FeatureChange;
}

/**
 * Validates a body that is one change or a list of changes. A change without a payload gets `{}`; a change to a segment
 * loses its `feature`.
 * @throws Refusal `ValidationError` that names the invalid property, such as `/body/0/payload/id`.
 */
export function parseChanges(body: unknown): Change[] {
  if (body === undefined)
    throw invalid('The `/body` property is required. It was not present on the data you sent.', '/body');
  if (!Array.isArray(body)) return [parseChange(body, '/body')];
  return parse(AnyChanges, body, '/body').map((change, index) => parseChange(change, `/body/${index}`));
}

// The grammar of filters in the queries of searches: `<operator>:<value>,<value>`. Each parameter is parsed in code and in one pass, since
// matching the documented patterns can take exponential time.

/** The maximum number of characters of a parameter. */
const maxParameterLength = 4_096;

/** The maximum number of values that a filter lists. */
export const maxValues = 200;

/** An unparsed query parameter. */
export interface Parameter {
  readonly name: string;
  readonly text: string;
}

/** A refusal that names the parameter. @param must the rest of a sentence that begins with "The … property must" */
export function invalidParameter({ name, text }: Parameter, must: string): Refusal {
  return invalid(`The \`/query/${name}\` property must ${must}. You sent ${quoteValue(text)}.`, `/query/${name}`);
}

/** A character has one or two UTF-16 units, so characters are counted only where the number of units does not decide. */
function isTooLong(text: string): boolean {
  return (
    text.length > maxParameterLength && (text.length > 2 * maxParameterLength || [...text].length > maxParameterLength)
  );
}

/** Checks the length and the characters of a parameter, and returns it. @throws Refusal `ValidationError` */
export function checkedParameter(name: string, text: string): Parameter {
  const parameter = { name, text };
  if (isTooLong(text)) throw invalidParameter(parameter, `be at most ${maxParameterLength} characters long`);
  requireStorableText(text, `/query/${name}`);
  return parameter;
}

/** Returns a function that checks and parses a parameter of the query by its name. It returns undefined for an absent parameter. */
export function parameterParser<N extends string>(query: { readonly [name in N]?: string | undefined }) {
  return <T>(name: N, parse: (parameter: Parameter) => T): T | undefined => {
    const text = query[name];
    return text === undefined ? undefined : parse(checkedParameter(name, text));
  };
}

/** Parses a parameter that must be one of the words. */
export function parseKeyword<W extends string>(parameter: Parameter, words: readonly W[]): W {
  const word = words.find((candidate) => candidate === parameter.text);
  if (word === undefined) throw invalidParameter(parameter, `be one of ${words.join(', ')}`);
  return word;
}

const digits = /^[0-9]+$/;

/** Parses a whole number in decimal digits. Without an upper bound, numbers above 2^53 - 1 are reduced to it. */
export function parseInteger(parameter: Parameter, from: number, to = Number.MAX_SAFE_INTEGER): number {
  const number = digits.test(parameter.text) ? Number(parameter.text) : Number.NaN;
  const bounded = to === Number.MAX_SAFE_INTEGER ? Math.min(number, to) : number;
  if (bounded >= from && bounded <= to) return bounded;
  throw invalidParameter(
    parameter,
    to === Number.MAX_SAFE_INTEGER
      ? `be a whole number of at least ${from}`
      : `be a whole number from ${from} to ${to}`,
  );
}

/** Parses the offset and the limit of a page; by default 0 and 50. */
export function parsePage(query: { readonly offset?: string | undefined; readonly limit?: string | undefined }) {
  const read = parameterParser(query);
  return {
    offset: read('offset', (parameter) => parseInteger(parameter, 0)) ?? 0,
    limit: read('limit', (parameter) => parseInteger(parameter, 1, 1_000)) ?? 50,
  };
}

/** Splits a filter into the operator before the first colon, and the text after it. */
export function splitOperator<O extends string>(parameter: Parameter, operators: readonly O[]): [O, string] {
  const colon = parameter.text.indexOf(':');
  const word = parameter.text.slice(0, Math.max(colon, 0));
  const operator = operators.find((candidate) => candidate === word);
  if (operator === undefined) throw invalidParameter(parameter, `begin with ${operators.join(' or ')}, and a colon`);
  return [operator, parameter.text.slice(colon + 1)];
}

const calendarDate = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/;

/** Parses the name of a time zone, such as `Asia/Kolkata`. */
export function parseTimeZone(parameter: Parameter): string {
  try {
    if (parameter.text.length <= 100)
      return new Intl.DateTimeFormat('en', { timeZone: parameter.text }).resolvedOptions().timeZone;
  } catch {
    // A RangeError: there is no such zone.
  }
  throw invalidParameter(parameter, 'be the name of a time zone, such as Europe/Oslo');
}

const hourMs = 3_600_000;

/**
 * The first instant of a day in a time zone; where the day begins at an hour that clocks skip, when they have skipped it.
 * @param daysLater counts from `day` on
 */
export function startOfDay(day: string, timeZone: string, daysLater = 0): Date {
  const utc = Date.parse(`${day}T00:00:00.000Z`) + daysLater * 24 * hourMs;
  if (timeZone === 'UTC') return new Date(utc);
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  const localTime = (instant: number): number => {
    const part = Object.fromEntries(format.formatToParts(instant).map(({ type, value }) => [type, Number(value)]));
    const { year = 0, month = 1, day: date = 1, hour = 0, minute = 0, second = 0 } = part;
    return new Date(0).setUTCFullYear(year, month - 1, date) + hour * hourMs + minute * 60_000 + second * 1_000;
  };
  // The offsets before and after any change of clocks on that day. Clocks are at most 14 hours from UTC.
  const candidates = [-36, 36].map((hours) => utc - (localTime(utc + hours * hourMs) - (utc + hours * hourMs)));
  const onThatDay = candidates.filter((instant) => localTime(instant) >= utc);
  return new Date(Math.min(...(onThatDay.length > 0 ? onThatDay : candidates)));
}

/** Parses a day, and returns it. @param date the text after the operator */
export function parseDay(parameter: Parameter, date: string): string {
  const midnight = new Date(calendarDate.test(date) ? `${date}T00:00:00.000Z` : Number.NaN);
  // `Date` makes a day in March of the 30th of February.
  if (Number.isNaN(midnight.getTime()) || midnight.toISOString().slice(0, 10) !== date)
    throw invalidParameter(parameter, 'end with a date of the calendar, written YYYY-MM-DD');
  return date;
}

const wholeNumber = /^-?[0-9]{1,15}$/;

/** Parses the id of an event or a user; undefined for other texts. Tokens and the system have negative ids of users. */
export function parseId(text: string): number | undefined {
  return wholeNumber.test(text) ? Number(text) : undefined;
}

/** The values without duplicates. @throws Refusal `ValidationError` for more than `maxValues` */
export function uniqueValues(parameter: Parameter, values: readonly string[]): readonly string[] {
  if (values.length > maxValues) throw invalidParameter(parameter, `list at most ${maxValues} values`);
  return [...new Set(values)];
}

const lineBreak = /[\n\r\u2028\u2029]/;

function requireOneLine(parameter: Parameter): void {
  if (lineBreak.test(parameter.text)) throw invalidParameter(parameter, 'be one line of text');
}

/**
 * Parses comma-separated values; returns them without duplicates and without the white space around them. Empty ones do not count, as in
 * Unleash: the patterns of the OpenAPI document allow them.
 */
export function parseList(parameter: Parameter, list: string): readonly string[] {
  requireOneLine(parameter);
  const values = list.split(',').map((value) => value.trim());
  return uniqueValues(
    parameter,
    values.filter((value) => value !== ''),
  );
}

/**
 * Parses comma-separated tags, each written `<type>:<value>`; returns them without duplicates. A comma that no `<type>:` follows is a
 * part of the value before it, as in the pattern of the OpenAPI document.
 */
export function parseTagList(parameter: Parameter, list: string): readonly string[] {
  requireOneLine(parameter);
  const tags: string[] = [];
  for (const part of list.split(',')) {
    const tag = part.trimStart();
    const colon = tag.indexOf(':');
    const last = tags.length - 1;
    if (colon > 0 && colon < tag.length - 1) tags.push(tag);
    else if (colon < 0 && last >= 0) tags[last] += `,${part}`;
    else throw invalidParameter(parameter, 'list tags that are each written `<type>:<value>`');
  }
  return uniqueValues(parameter, tags);
}
