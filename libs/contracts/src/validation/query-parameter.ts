import { invalid, type Refusal } from '../errors.ts';
import { quoteValue } from '../text/quote-value.ts';
import { requireStorableText } from '../text/storable-text.ts';

// The grammar of filters in the queries of searches: `<operator>:<value>,<value>`. Each parameter is parsed by hand and in one pass, since to match
// the documented patterns can take exponential time.

/** How many characters a parameter may have. */
const maxParameterLength = 4_096;

/** How many values a filter may list. */
export const maxValues = 200;

/** An unparsed query parameter. */
export interface Parameter {
  readonly name: string;
  readonly text: string;
}

/** A refusal that names the parameter. @param must continues "The … property must" */
export const invalidParameter = ({ name, text }: Parameter, must: string): Refusal =>
  invalid(`The \`/query/${name}\` property must ${must}. You sent ${quoteValue(text)}.`, `/query/${name}`);

// Text of more than so many UTF-16 units cannot have few enough characters: it need not be counted.
const isTooLong = (text: string): boolean =>
  text.length > maxParameterLength && (text.length > 2 * maxParameterLength || [...text].length > maxParameterLength);

/** Checks the length and characters of a parameter. @throws Refusal `ValidationError` */
export const checkParameter = (name: string, text: string): Parameter => {
  const parameter = { name, text };
  if (isTooLong(text)) throw invalidParameter(parameter, `be at most ${maxParameterLength} characters long`);
  requireStorableText(text, `/query/${name}`);
  return parameter;
};

/** Checks and parses the parameters of one query by name. What is absent is undefined. */
export const parameterParser =
  <N extends string>(query: { readonly [name in N]?: string | undefined }) =>
  <T>(name: N, parse: (parameter: Parameter) => T): T | undefined => {
    const text = query[name];
    return text === undefined ? undefined : parse(checkParameter(name, text));
  };

/** One of the words that the parameter may be. */
export const parseKeyword = <W extends string>(parameter: Parameter, words: readonly W[]): W => {
  const word = words.find((candidate) => candidate === parameter.text);
  if (word === undefined) throw invalidParameter(parameter, `be one of ${words.join(', ')}`);
  return word;
};

const digits = /^[0-9]+$/;

/** A whole number in decimal digits. Without an upper bound, numbers above 2^53 - 1 are taken as that. */
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

/** Parses offset and limit of a page. */
export const parsePage = (query: { readonly offset?: string | undefined; readonly limit?: string | undefined }) => {
  const read = parameterParser(query);
  return {
    offset: read('offset', (parameter) => parseInteger(parameter, 0)) ?? 0,
    limit: read('limit', (parameter) => parseInteger(parameter, 1, 1_000)) ?? 50,
  };
};

/** The operator before the first colon, and what follows it. */
export const splitOperator = <O extends string>(parameter: Parameter, operators: readonly O[]): [O, string] => {
  const colon = parameter.text.indexOf(':');
  const word = parameter.text.slice(0, Math.max(colon, 0));
  const operator = operators.find((candidate) => candidate === word);
  if (operator === undefined) throw invalidParameter(parameter, `begin with ${operators.join(' or ')}, and a colon`);
  return [operator, parameter.text.slice(colon + 1)];
};

const calendarDate = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/;

/** The start of a day, UTC. @param date what follows the operator */
export const parseDay = (parameter: Parameter, date: string): Date => {
  const midnight = new Date(calendarDate.test(date) ? `${date}T00:00:00.000Z` : Number.NaN);
  // The 30th of February would be a day in March.
  if (Number.isNaN(midnight.getTime()) || midnight.toISOString().slice(0, 10) !== date)
    throw invalidParameter(parameter, 'end with a date of the calendar, written YYYY-MM-DD');
  return midnight;
};

const wholeNumber = /^-?[0-9]{1,15}$/;

/** The id of an event or a user; undefined for other text. The system and tokens have negative ids of users. */
export const parseId = (text: string): number | undefined => (wholeNumber.test(text) ? Number(text) : undefined);

/** The values, each once. */
export const uniqueValues = (parameter: Parameter, values: readonly string[]): readonly string[] => {
  if (values.length > maxValues) throw invalidParameter(parameter, `list at most ${maxValues} values`);
  return [...new Set(values)];
};

const lineBreak = /[\n\r\u2028\u2029]/;

const requireOneLine = (parameter: Parameter): void => {
  if (lineBreak.test(parameter.text)) throw invalidParameter(parameter, 'be one line of text');
};

const emptyValue = 'list at least one value, and none that is empty';

/** Values with commas between them, each once. Blanks around a value do not belong to it. */
export const parseList = (parameter: Parameter, list: string): readonly string[] => {
  requireOneLine(parameter);
  const values = list.split(',').map((value) => value.trim());
  if (values.includes('')) throw invalidParameter(parameter, emptyValue);
  return uniqueValues(parameter, values);
};

/**
 * Tags with commas between them, each once and written `type:value`. A comma that no `type:` follows is a part of the value
 * before it, as the promised pattern has it.
 */
export const parseTagList = (parameter: Parameter, list: string): readonly string[] => {
  requireOneLine(parameter);
  const tags: string[] = [];
  for (const part of list.split(',')) {
    const tag = part.trimStart();
    if (tag === '') throw invalidParameter(parameter, emptyValue);
    const colon = tag.indexOf(':');
    const before = tags.length - 1;
    if (colon > 0 && colon < tag.length - 1) tags.push(tag);
    else if (colon < 0 && before >= 0) tags[before] += `,${part}`;
    else throw invalidParameter(parameter, 'list tags that are each written `<type>:<value>`');
  }
  return uniqueValues(parameter, tags);
};
