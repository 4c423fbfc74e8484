import { invalid, type Refusal } from '../errors.ts';
import { quoteValue } from '../text/quote-value.ts';
import { requireStorableText } from '../text/storable-text.ts';

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
export const invalidParameter = ({ name, text }: Parameter, must: string): Refusal =>
  invalid(`The \`/query/${name}\` property must ${must}. You sent ${quoteValue(text)}.`, `/query/${name}`);

/** A character has one or two UTF-16 units, so characters are counted only where the number of units does not decide. */
const isTooLong = (text: string): boolean =>
  text.length > maxParameterLength && (text.length > 2 * maxParameterLength || [...text].length > maxParameterLength);

/** Checks the length and the characters of a parameter, and returns it. @throws Refusal `ValidationError` */
export const checkedParameter = (name: string, text: string): Parameter => {
  const parameter = { name, text };
  if (isTooLong(text)) throw invalidParameter(parameter, `be at most ${maxParameterLength} characters long`);
  requireStorableText(text, `/query/${name}`);
  return parameter;
};

/** Returns a function that checks and parses a parameter of the query by its name. It returns undefined for an absent parameter. */
export const parameterParser =
  <N extends string>(query: { readonly [name in N]?: string | undefined }) =>
  <T>(name: N, parse: (parameter: Parameter) => T): T | undefined => {
    const text = query[name];
    return text === undefined ? undefined : parse(checkedParameter(name, text));
  };

/** Parses a parameter that must be one of the words. */
export const parseKeyword = <W extends string>(parameter: Parameter, words: readonly W[]): W => {
  const word = words.find((candidate) => candidate === parameter.text);
  if (word === undefined) throw invalidParameter(parameter, `be one of ${words.join(', ')}`);
  return word;
};

const digits = /^[0-9]+$/;

/** Parses a whole number in decimal digits. Without an upper bound, numbers above 2^53 - 1 are reduced to it. */
export const parseInteger = (parameter: Parameter, from: number, to = Number.MAX_SAFE_INTEGER): number => {
  const number = digits.test(parameter.text) ? Number(parameter.text) : Number.NaN;
  const bounded = to === Number.MAX_SAFE_INTEGER ? Math.min(number, to) : number;
  if (bounded >= from && bounded <= to) return bounded;
  throw invalidParameter(
    parameter,
    to === Number.MAX_SAFE_INTEGER
      ? `be a whole number of at least ${from}`
      : `be a whole number from ${from} to ${to}`,
  );
};

/** Parses the offset and the limit of a page; by default 0 and 50. */
export const parsePage = (query: { readonly offset?: string | undefined; readonly limit?: string | undefined }) => {
  const read = parameterParser(query);
  return {
    offset: read('offset', (parameter) => parseInteger(parameter, 0)) ?? 0,
    limit: read('limit', (parameter) => parseInteger(parameter, 1, 1_000)) ?? 50,
  };
};

/** Splits a filter into the operator before the first colon, and the text after it. */
export const splitOperator = <O extends string>(parameter: Parameter, operators: readonly O[]): [O, string] => {
  const colon = parameter.text.indexOf(':');
  const word = parameter.text.slice(0, Math.max(colon, 0));
  const operator = operators.find((candidate) => candidate === word);
  if (operator === undefined) throw invalidParameter(parameter, `begin with ${operators.join(' or ')}, and a colon`);
  return [operator, parameter.text.slice(colon + 1)];
};

const calendarDate = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/;

/** Parses a day, and returns its start in UTC. @param date the text after the operator */
export const parseDay = (parameter: Parameter, date: string): Date => {
  const midnight = new Date(calendarDate.test(date) ? `${date}T00:00:00.000Z` : Number.NaN);
  // `Date` makes a day in March of the 30th of February.
  if (Number.isNaN(midnight.getTime()) || midnight.toISOString().slice(0, 10) !== date)
    throw invalidParameter(parameter, 'end with a date of the calendar, written YYYY-MM-DD');
  return midnight;
};

const wholeNumber = /^-?[0-9]{1,15}$/;

/** Parses the id of an event or a user; undefined for other texts. Tokens and the system have negative ids of users. */
export const parseId = (text: string): number | undefined => (wholeNumber.test(text) ? Number(text) : undefined);

/** The values without duplicates. @throws Refusal `ValidationError` for more than `maxValues` */
export const uniqueValues = (parameter: Parameter, values: readonly string[]): readonly string[] => {
  if (values.length > maxValues) throw invalidParameter(parameter, `list at most ${maxValues} values`);
  return [...new Set(values)];
};

const lineBreak = /[\n\r\u2028\u2029]/;

const requireOneLine = (parameter: Parameter): void => {
  if (lineBreak.test(parameter.text)) throw invalidParameter(parameter, 'be one line of text');
};

const emptyValue = 'list at least one value, and none that is empty';

/** Parses comma-separated values; returns them without duplicates and without the white space around them. */
export const parseList = (parameter: Parameter, list: string): readonly string[] => {
  requireOneLine(parameter);
  const values = list.split(',').map((value) => value.trim());
  if (values.includes('')) throw invalidParameter(parameter, emptyValue);
  return uniqueValues(parameter, values);
};

/**
 * Parses comma-separated tags, each written `<type>:<value>`; returns them without duplicates. A comma that no `<type>:` follows is a
 * part of the value before it, as in the pattern of the OpenAPI document.
 */
export const parseTagList = (parameter: Parameter, list: string): readonly string[] => {
  requireOneLine(parameter);
  const tags: string[] = [];
  for (const part of list.split(',')) {
    const tag = part.trimStart();
    if (tag === '') throw invalidParameter(parameter, emptyValue);
    const colon = tag.indexOf(':');
    const last = tags.length - 1;
    if (colon > 0 && colon < tag.length - 1) tags.push(tag);
    else if (colon < 0 && last >= 0) tags[last] += `,${part}`;
    else throw invalidParameter(parameter, 'list tags that are each written `<type>:<value>`');
  }
  return uniqueValues(parameter, tags);
};
