import {
  parseId,
  invalidParameter,
  type Parameter,
  parseDay,
  parseKeyword,
  parseList,
  parseTagList,
  splitOperator,
  uniqueValues,
} from '@bunting/contracts/validation';
import { foldForSearch } from '@bunting/contracts';

/** Matches features with one of the values, or with `isNot` those with none. */
export interface ValueFilter {
  readonly isNot: boolean;
  readonly values: readonly string[];
}

/** Matches features by their creator's id or name. */
export interface CreatorFilter {
  readonly isNot: boolean;
  readonly ids: readonly number[];
  readonly names: readonly string[];
}

/** Matches features by a property with several values, such as tags. */
export interface SetFilter {
  readonly mode: 'any' | 'none' | 'all' | 'not all';
  readonly values: readonly string[];
}

/** Matches instants before a midnight, UTC, or from then on. */
export interface DayFilter {
  readonly before: boolean;
  readonly midnight: Date;
}

const valueOperators = ['IS', 'IS_NOT', 'IS_ANY_OF', 'IS_NONE_OF'] as const;
const setOperators = [
  'INCLUDE',
  'DO_NOT_INCLUDE',
  'INCLUDE_ALL_OF',
  'INCLUDE_ANY_OF',
  'EXCLUDE_IF_ANY_OF',
  'EXCLUDE_ALL',
] as const;
const modeOf: { readonly [O in (typeof setOperators)[number]]: SetFilter['mode'] } = {
  INCLUDE: 'any',
  INCLUDE_ANY_OF: 'any',
  DO_NOT_INCLUDE: 'none',
  EXCLUDE_IF_ANY_OF: 'none',
  INCLUDE_ALL_OF: 'all',
  EXCLUDE_ALL: 'not all',
};

/** `project`, `type`: an operator and a list of values. */
export const parseValueFilter = (parameter: Parameter): ValueFilter => {
  const [operator, list] = splitOperator(parameter, valueOperators);
  return { isNot: operator === 'IS_NOT' || operator === 'IS_NONE_OF', values: parseList(parameter, list) };
};

/** `state`: the accepted values of `stale`. */
export const parseState = (parameter: Parameter): readonly boolean[] => {
  const { isNot, values } = parseValueFilter(parameter);
  if (values.some((value) => value !== 'active' && value !== 'stale'))
    throw invalidParameter(parameter, 'list no other state than active and stale');
  return [false, true].filter((stale) => values.includes(stale ? 'stale' : 'active') !== isNot);
};

/** `createdBy`: whole numbers are ids of users, and anything else is a user's name. */
export const parseCreators = (parameter: Parameter): CreatorFilter => {
  const { isNot, values } = parseValueFilter(parameter);
  return {
    isNot,
    ids: values.flatMap((value) => parseId(value) ?? []),
    names: values.filter((value) => parseId(value) === undefined),
  };
};

const parseSetFilter = (
  parameter: Parameter,
  read: (parameter: Parameter, list: string) => readonly string[],
): SetFilter => {
  const [operator, list] = splitOperator(parameter, setOperators);
  return { mode: modeOf[operator], values: read(parameter, list) };
};

/** `tag`: whether a feature must have any, all or none of the tags, each written `<type>:<value>`. */
export const parseTags = (parameter: Parameter): SetFilter => parseSetFilter(parameter, parseTagList);

/** `segment`: whether a feature must have any, all or none of the segments, by name. */
export const parseSegments = (parameter: Parameter): SetFilter => parseSetFilter(parameter, parseList);

/** Whether one `status` is `<environment>:enabled` or `<environment>:disabled`. */
export const isStatus = ({ text }: Parameter): boolean => {
  const colon = text.indexOf(':');
  const state = text.slice(colon + 1);
  return colon > 0 && (state === 'enabled' || state === 'disabled');
};

/** `createdAt`, `lastSeenAt`: before a day, or on it and after. */
export const parseDayFilter = (parameter: Parameter): DayFilter => {
  const [operator, date] = splitOperator(parameter, ['IS_BEFORE', 'IS_ON_OR_AFTER']);
  return { before: operator === 'IS_BEFORE', midnight: parseDay(parameter, date) };
};

/** `query`: folded texts, of which the name or a tag contains one. Commas and blanks alone are no filter. */
export const parseTexts = (parameter: Parameter): readonly string[] => {
  const texts = parameter.text.split(',').map((text) => foldForSearch(text.trim()));
  return uniqueValues(
    parameter,
    texts.filter((text) => text !== ''),
  );
};

/** `description`: folded texts, of which it contains one. */
export const parseDescription = (parameter: Parameter): readonly string[] => {
  const [, list] = splitOperator(parameter, ['CONTAINS']);
  return [...new Set(parseList(parameter, list).map(foldForSearch))];
};

const maxFuzzyTexts = 5;
const maxFuzzyTextLength = 100;

/** `query` of a fuzzy search. The number of texts is limited, because each is compared with many others. */
export const parseFuzzyTexts = (parameter: Parameter): readonly string[] => {
  const texts = parseTexts(parameter);
  if (texts.length > maxFuzzyTexts || texts.some((text) => text.length > maxFuzzyTextLength))
    throw invalidParameter(
      parameter,
      `list at most ${maxFuzzyTexts} texts of at most ${maxFuzzyTextLength} characters when it is fuzzy`,
    );
  return texts;
};

/** `archived`, `fuzzy`: a bare value, or one with the operator that Unleash gives to its filters. */
export const parseBoolean = (parameter: Parameter): boolean =>
  parseKeyword(parameter, ['true', 'false', 'IS:true', 'IS:false']).endsWith('true');

/** `favorite`: as `parseBoolean`, or a list of both values, with which every feature matches. */
export const parseFavorite = (parameter: Parameter): boolean | undefined => {
  if (!parameter.text.startsWith('IS_ANY_OF:')) return parseBoolean(parameter);
  const values = parseList(parameter, splitOperator(parameter, ['IS_ANY_OF'])[1]);
  if (values.some((value) => value !== 'true' && value !== 'false'))
    throw invalidParameter(parameter, 'list no other value than true and false');
  return values.length === 2 ? undefined : values.includes('true');
};
