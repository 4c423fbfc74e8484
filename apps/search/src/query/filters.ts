import { fold } from './fold.ts';
import { distinct, listed, listedTags, oneOf, operation, type Parameter, refused } from './parameter.ts';

/** Values of which a feature has one. `isNot`: it must have none of them. */
export interface Among {
  readonly isNot: boolean;
  readonly values: readonly string[];
}

/** Who created a feature: one of these, by id or by name. */
export interface Creators {
  readonly isNot: boolean;
  readonly ids: readonly number[];
  readonly names: readonly string[];
}

/** Values of which a feature may have several, and how many of them it must have. */
export interface Holding {
  readonly holds: 'any' | 'none' | 'all' | 'not all';
  readonly values: readonly string[];
}

/** The midnight, UTC, that a feature was created before, or not before. */
export interface Created {
  readonly before: boolean;
  readonly midnight: Date;
}

const amongOperators = ['IS', 'IS_NOT', 'IS_ANY_OF', 'IS_NONE_OF'] as const;
const holdingOperators = [
  'INCLUDE',
  'DO_NOT_INCLUDE',
  'INCLUDE_ALL_OF',
  'INCLUDE_ANY_OF',
  'EXCLUDE_IF_ANY_OF',
  'EXCLUDE_ALL',
] as const;
const meaningOf: { readonly [O in (typeof holdingOperators)[number]]: Holding['holds'] } = {
  INCLUDE: 'any',
  INCLUDE_ANY_OF: 'any',
  DO_NOT_INCLUDE: 'none',
  EXCLUDE_IF_ANY_OF: 'none',
  INCLUDE_ALL_OF: 'all',
  EXCLUDE_ALL: 'not all',
};

/** `project`, `type`: an operator and a list of values. */
export const amongOf = (parameter: Parameter): Among => {
  const [operator, list] = operation(parameter, amongOperators);
  return { isNot: operator === 'IS_NOT' || operator === 'IS_NONE_OF', values: listed(parameter, list) };
};

/** `state`: what `stale` may be. */
export const staleOf = (parameter: Parameter): readonly boolean[] => {
  const { isNot, values } = amongOf(parameter);
  if (values.some((value) => value !== 'active' && value !== 'stale'))
    throw refused(parameter, 'list no other state than active and stale');
  return [false, true].filter((stale) => values.includes(stale ? 'stale' : 'active') !== isNot);
};

const userId = /^-?[0-9]{1,15}$/;

/** `createdBy`: whole numbers are ids of users, and anything else is a user's name. */
export const creatorsOf = (parameter: Parameter): Creators => {
  const { isNot, values } = amongOf(parameter);
  const ids = values.filter((value) => userId.test(value)).map(Number);
  return { isNot, ids, names: values.filter((value) => !userId.test(value)) };
};

const holdingOf = (parameter: Parameter, read: (parameter: Parameter, list: string) => readonly string[]): Holding => {
  const [operator, list] = operation(parameter, holdingOperators);
  return { holds: meaningOf[operator], values: read(parameter, list) };
};

/** `tag`: how many of the tags, each `<type>:<value>`. */
export const tagsOf = (parameter: Parameter): Holding => holdingOf(parameter, listedTags);

/** `segment`: how many of the segments, by name. */
export const segmentsOf = (parameter: Parameter): Holding => holdingOf(parameter, listed);

/** One `status`: `<environment>:enabled` or `<environment>:disabled`. */
export const statusOf = (parameter: Parameter): string => {
  const colon = parameter.text.indexOf(':');
  const state = parameter.text.slice(colon + 1);
  if (colon < 1 || (state !== 'enabled' && state !== 'disabled'))
    throw refused(parameter, 'be written `<environment>:enabled` or `<environment>:disabled`');
  return parameter.text;
};

const calendarDate = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/;

/** `createdAt`: before a day, or on it and after. */
export const createdOf = (parameter: Parameter): Created => {
  const [operator, date] = operation(parameter, ['IS_BEFORE', 'IS_ON_OR_AFTER']);
  const midnight = new Date(calendarDate.test(date) ? `${date}T00:00:00.000Z` : Number.NaN);
  // The 30th of February would be a day in March.
  if (Number.isNaN(midnight.getTime()) || midnight.toISOString().slice(0, 10) !== date)
    throw refused(parameter, 'end with a date of the calendar, written YYYY-MM-DD');
  return { before: operator === 'IS_BEFORE', midnight };
};

/** `query`: folded texts, of which the name or a tag contains one. Nothing but commas and blanks looks for nothing. */
export const textsOf = (parameter: Parameter): readonly string[] => {
  const texts = parameter.text.split(',').map((text) => fold(text.trim()));
  return distinct(
    parameter,
    texts.filter((text) => text !== ''),
  );
};

const mostFuzzyTexts = 5;
const longestFuzzyText = 100;

/** `query` as well, when what is only alike is found: each text is compared with very many, and takes its time. */
export const fuzzyTextsOf = (parameter: Parameter): readonly string[] => {
  const texts = textsOf(parameter);
  if (texts.length > mostFuzzyTexts || texts.some((text) => text.length > longestFuzzyText))
    throw refused(
      parameter,
      `list at most ${mostFuzzyTexts} texts of at most ${longestFuzzyText} characters when it is fuzzy`,
    );
  return texts;
};

export const isTrue = (parameter: Parameter): boolean => oneOf(parameter, ['true', 'false']) === 'true';

/** `archived`: only what is archived, or only what is not. */
export const archivedOf = (parameter: Parameter): boolean =>
  oneOf(parameter, ['true', 'false', 'IS:true', 'IS:false']).endsWith('true');
