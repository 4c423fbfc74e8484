import {
  foldForSearch,
  type LifecycleStage,
  lifecycleStages,
  reachExtents,
  type RequestOf,
  type SearchFeatures,
} from '@bunting/contracts';
import {
  checkedParameter,
  invalidParameter,
  maxValues,
  type Parameter,
  parameterParser,
  parseDay,
  parseTimeZone,
  startOfDay,
  parseId,
  parseKeyword,
  parseList,
  parsePage,
  parseTagList,
  splitOperator,
  uniqueValues,
} from '@bunting/contracts/validation';
import { splitWords } from './words.ts';

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

/** Matches instants before a midnight, or from then on. */
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

/** `project`, `type`: an operator and a list of values. Without a value it is no filter, as in Unleash. */
function parseValueFilter(parameter: Parameter): ValueFilter | undefined {
  const [operator, list] = splitOperator(parameter, valueOperators);
  const values = parseList(parameter, list);
  if (values.length === 0) return undefined;
  return { isNot: operator === 'IS_NOT' || operator === 'IS_NONE_OF', values };
}

/** `state`: the accepted values of `stale`. */
function parseState(parameter: Parameter): readonly boolean[] | undefined {
  const filter = parseValueFilter(parameter);
  if (filter === undefined) return undefined;
  const { isNot, values } = filter;
  if (values.some((value) => value !== 'active' && value !== 'stale'))
    throw invalidParameter(parameter, 'list no other state than active and stale');
  return [false, true].filter((stale) => values.includes(stale ? 'stale' : 'active') !== isNot);
}

/** `lifecycle`: the stages that are listed, and the accepted ones. */
interface StageFilter {
  /** undefined where the list excludes them */
  readonly wanted: readonly LifecycleStage[] | undefined;
  readonly accepted: readonly LifecycleStage[];
}

function parseStages(parameter: Parameter): StageFilter | undefined {
  const filter = parseValueFilter(parameter);
  if (filter === undefined) return undefined;
  const { isNot, values } = filter;
  if (!values.every((value) => lifecycleStages.some((stage) => stage === value)))
    throw invalidParameter(parameter, `list no other stage than ${lifecycleStages.join(', ')}`);
  const accepted = lifecycleStages.filter((stage) => values.includes(stage) !== isNot);
  return { wanted: isNot ? undefined : accepted, accepted };
}

/** Whether features are archived that have one of the stages; undefined if there are some of both. As in Unleash, the stage alone finds archived ones. */
function areArchived(stages: StageFilter | undefined): boolean | undefined {
  if (stages?.wanted?.includes('archived') !== true) return false;
  return stages.wanted.length === 1 ? true : undefined;
}

/** `createdBy`: whole numbers are ids of users, and anything else is a user's name. */
function parseCreators(parameter: Parameter): CreatorFilter | undefined {
  const filter = parseValueFilter(parameter);
  if (filter === undefined) return undefined;
  const { isNot, values } = filter;
  return {
    isNot,
    ids: values.flatMap((value) => parseId(value) ?? []),
    names: values.filter((value) => parseId(value) === undefined),
  };
}

function parseSetFilter(
  parameter: Parameter,
  read: (parameter: Parameter, list: string) => readonly string[],
): SetFilter | undefined {
  const [operator, list] = splitOperator(parameter, setOperators);
  const values = read(parameter, list);
  return values.length === 0 ? undefined : { mode: modeOf[operator], values };
}

/** `tag`: whether a feature must have any, all or none of the tags, each written `<type>:<value>`. */
function parseTags(parameter: Parameter): SetFilter | undefined {
  return parseSetFilter(parameter, parseTagList);
}

/** `segment`: whether a feature must have any, all or none of the segments, by name. */
function parseSegments(parameter: Parameter): SetFilter | undefined {
  return parseSetFilter(parameter, parseList);
}

const statuses: readonly string[] = ['enabled', 'disabled', ...reachExtents];

/** Whether one `status` is `<environment>:<status>`. */
function isStatus({ text }: Parameter): boolean {
  const colon = text.indexOf(':');
  return colon > 0 && statuses.includes(text.slice(colon + 1));
}

/** `createdAt`, `lastSeenAt`: before a day, or on it and after. */
function parseDayFilter(timeZone: string) {
  return (parameter: Parameter): DayFilter => {
    const [operator, date] = splitOperator(parameter, ['IS_BEFORE', 'IS_ON_OR_AFTER']);
    return { before: operator === 'IS_BEFORE', midnight: startOfDay(parseDay(parameter, date), timeZone) };
  };
}

/** `query`: folded texts, of which the name or a tag contains one. Commas and blanks alone are no filter. */
function parseTexts(parameter: Parameter): readonly string[] {
  const texts = parameter.text.split(',').map((text) => foldForSearch(text.trim()));
  return uniqueValues(
    parameter,
    texts.filter((text) => text !== ''),
  );
}

/** `description`: folded texts, of which it contains one. */
function parseDescription(parameter: Parameter): readonly string[] | undefined {
  const [, list] = splitOperator(parameter, ['CONTAINS']);
  const texts = [...new Set(parseList(parameter, list).map(foldForSearch))];
  return texts.length === 0 ? undefined : texts;
}

const maxFuzzyTexts = 5;
export const maxFuzzyTextLength = 100;

/** `query` of a fuzzy search. The number of texts is limited, because each is compared with many others. */
function parseFuzzyTexts(parameter: Parameter): readonly string[] {
  const texts = parseTexts(parameter);
  if (texts.length > maxFuzzyTexts || texts.some((text) => text.length > maxFuzzyTextLength))
    throw invalidParameter(
      parameter,
      `list at most ${maxFuzzyTexts} texts of at most ${maxFuzzyTextLength} characters when it is fuzzy`,
    );
  return texts;
}

/** As in Meilisearch, further words of a text are ignored. */
export const maxFuzzyWords = 10;

/** The words of each text of a fuzzy query; of the same text in several spellings, those of the first. */
function wordsOfTexts({ text }: Parameter): readonly (readonly string[])[] {
  const words = new Map<string, readonly string[]>();
  for (const part of text.split(',').map((each) => each.trim())) {
    const folded = foldForSearch(part);
    if (folded !== '' && !words.has(folded))
      words.set(folded, splitWords(part).slice(0, maxFuzzyWords).map(foldForSearch));
  }
  return [...words.values()];
}

/** `archived`, `fuzzy`, `everyEnvironment`: a bare value, or one with the operator that Unleash gives to its filters. */
function parseBoolean(parameter: Parameter): boolean {
  return parseKeyword(parameter, ['true', 'false', 'IS:true', 'IS:false']).endsWith('true');
}

/** `favorite`: as `parseBoolean`, or a list of both values, with which every feature matches. */
function parseFavorite(parameter: Parameter): boolean | undefined {
  if (!parameter.text.startsWith('IS_ANY_OF:')) return parseBoolean(parameter);
  const values = parseList(parameter, splitOperator(parameter, ['IS_ANY_OF'])[1]);
  if (values.some((value) => value !== 'true' && value !== 'false'))
    throw invalidParameter(parameter, 'list no other value than true and false');
  return values.length === 1 ? values.includes('true') : undefined;
}

const sortKeys = ['createdAt', 'name', 'type', 'project', 'stale', 'lastSeenAt'] as const;
type SortKey = (typeof sortKeys)[number];

/** The sort keys of a search. Ties are ordered by creation, and then by name. */
export interface Sort {
  readonly by: SortKey | { readonly environment: string; readonly key: 'enabled' | 'reach' };
  readonly descending: boolean;
}

/** The parsed parameters of a feature search. All filters that are present must match. */
export interface FeatureQuery {
  /** case-folded texts, of which the name or a tag must contain one; empty if every feature matches */
  readonly texts: readonly string[];
  /** whether names and tags that are only similar to a text match too */
  readonly fuzzy: boolean;
  /** of a fuzzy query: the words of each text */
  readonly words: readonly (readonly string[])[];
  /** case-folded texts, of which the description must contain one */
  readonly description: readonly string[] | undefined;
  /** undefined for both archived and active features */
  readonly archived: boolean | undefined;
  readonly project: ValueFilter | undefined;
  readonly type: ValueFilter | undefined;
  readonly createdBy: CreatorFilter | undefined;
  /** the accepted values of `stale` */
  readonly stale: readonly boolean[] | undefined;
  /** the accepted stages of the lifecycle */
  readonly stages: readonly LifecycleStage[] | undefined;
  readonly tag: SetFilter | undefined;
  readonly segment: SetFilter | undefined;
  /** statuses, each written `<environment>:<status>`: a feature must have one of each list */
  readonly status: readonly (readonly string[])[] | undefined;
  readonly created: DayFilter | undefined;
  readonly lastSeen: DayFilter | undefined;
  /** whether it is a favorite of the caller */
  readonly favorite: boolean | undefined;
  readonly sort: Sort | 'relevance';
  readonly favoritesFirst: boolean;
  readonly offset: number;
  readonly limit: number;
}

type SearchParameters = RequestOf<typeof SearchFeatures>['query'];

const environmentKeys = { environment: 'enabled', reach: 'reach' } as const;

/** The sort key; undefined for an unknown one, which is ignored as Unleash does: an order finds the same features. */
function parseSortBy({ text }: Parameter): Sort['by'] | undefined {
  const [, prefix, environment] = /^(environment|reach):(.+)$/s.exec(text) ?? [];
  if (environment === undefined) return sortKeys.find((key) => key === text);
  return { environment, key: environmentKeys[prefix as keyof typeof environmentKeys] };
}

/** @param everyEnvironment whether one status of each environment is required, instead of any */
function parseStatuses(texts: readonly string[] | undefined, everyEnvironment: boolean): FeatureQuery['status'] {
  if (texts === undefined) return undefined;
  if (texts.length === 0 || texts.length > maxValues)
    throw invalidParameter({ name: 'status', text: `${texts.length} of them` }, `be given 1 to ${maxValues} times`);
  const given = texts.map((text) => checkedParameter('status', text));
  const valid = [...new Set(given.filter(isStatus).map(({ text }) => text))];
  const invalid = given.find((parameter) => !isStatus(parameter));
  // Where one of each environment is required, an ignored one would find more than was asked for.
  if (invalid !== undefined && (everyEnvironment || valid.length === 0))
    throw invalidParameter(invalid, `be written \`<environment>:<status>\` with one of ${statuses.join(', ')}`);
  if (!everyEnvironment) return [valid];
  return [...Map.groupBy(valid, (text) => text.slice(0, text.indexOf(':'))).values()];
}

/**
 * Parses the parameters, each in one pass without backtracking. A filter that cannot be parsed is refused: it is never ignored, and never
 * finds more than it says. What only orders the features is ignored where it is unknown.
 * @throws Refusal `ValidationError` that names the parameter.
 */
export function parseFeatureQuery({ status, ...query }: SearchParameters): FeatureQuery {
  const read = parameterParser(query);
  const fuzzy = read('fuzzy', parseBoolean) ?? false;
  const texts = read('query', fuzzy ? parseFuzzyTexts : parseTexts) ?? [];
  const timeZone = read('timeZone', parseTimeZone) ?? 'UTC';
  const by = read('sortBy', parseSortBy);
  const stages = read('lifecycle', parseStages);
  const descending = read('sortOrder', (parameter) => parseKeyword(parameter, ['asc', 'desc'])) === 'desc';
  return {
    texts,
    fuzzy,
    words: (fuzzy ? read('query', wordsOfTexts) : undefined) ?? [],
    description: read('description', parseDescription),
    archived: read('archived', parseBoolean) ?? areArchived(stages),
    project: read('project', parseValueFilter),
    type: read('type', parseValueFilter),
    createdBy: read('createdBy', parseCreators),
    stale: read('state', parseState),
    stages: stages?.accepted,
    tag: read('tag', parseTags),
    segment: read('segment', parseSegments),
    status: parseStatuses(status, read('everyEnvironment', parseBoolean) ?? false),
    created: read('createdAt', parseDayFilter(timeZone)),
    lastSeen: read('lastSeenAt', parseDayFilter(timeZone)),
    favorite: read('favorite', parseFavorite),
    sort: by === undefined && fuzzy && texts.length > 0 ? 'relevance' : { by: by ?? 'createdAt', descending },
    favoritesFirst: read('favoritesFirst', ({ text }) => text === 'true' || text === 'IS:true') ?? false,
    ...parsePage(query),
  };
}

/** Separates the texts of a feature, so that a query cannot match across two of them. Folded text does not contain it. */
const textSeparator = '\u001f';

/** The searchable text of a feature: the name, and each tag as `type:value`. */
export function searchTextOf(name: string, tags: readonly string[]): string {
  return [name, ...tags].map(foldForSearch).join(textSeparator);
}
