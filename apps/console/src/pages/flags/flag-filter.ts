import { lifecycleStages, type RequestOf, type SearchFeatures } from '@bunting/contracts';
import { serverNow } from '../../api/server-clock.ts';
import {
  chipsOf,
  dayWords,
  type FilterChip,
  type FilterToken,
  filterTokensOf,
  type InvalidTextToken,
  ownTimeZone,
  readDayBound,
  type ReaderClock,
  unknownKeyText,
} from '../../filtering/filter-tokens.ts';
import { type Suggestion, suggestionsAt } from '../../filtering/filter-suggestions.ts';

/** The query parameters of a search for flags, without those that choose a page of the result. */
export type SearchQuery = Omit<RequestOf<typeof SearchFeatures>['query'], 'offset' | 'limit'>;

interface FlagFilter {
  readonly query: SearchQuery;
  readonly errors: readonly InvalidTextToken[];
  readonly chips: readonly FilterChip[];
}

/** The conditions of a filter that have been read so far, by query parameter. */
interface Conditions {
  /** the included and excluded values of parameters that take a list */
  readonly lists: Map<string, ValueList>;
  /** the words without a key */
  readonly texts: string[];
  /** the parameters that take one value */
  readonly single: Map<string, string>;
}

interface ValueList {
  readonly included: string[];
  readonly excluded: string[];
}

/** Adds the value of one token to the conditions. Returns why the token cannot be applied; undefined if it can. */
type Reader = (value: string, isNegated: boolean, conditions: Conditions, clock: ReaderClock) => string | undefined;

/** Reads values with commas between them. Several tokens with the same key add up. */
function listReader(key: string, parameter = key): Reader {
  return (value, isNegated, { lists }) => {
    const entry = lists.get(parameter) ?? { included: [], excluded: [] };
    if ((isNegated ? entry.included : entry.excluded).length > 0) return `${key} cannot both include and exclude`;
    (isNegated ? entry.excluded : entry.included).push(...value.split(',').filter((item) => item !== ''));
    lists.set(parameter, entry);
    return undefined;
  };
}

function choiceReader(parameter: string, allowed: readonly string[]): Reader {
  return (value, isNegated, { single }) => {
    if (isNegated || !allowed.includes(value)) return `write ${allowed.join(' or ')}`;
    if (single.has(parameter)) return 'it is given already';
    single.set(parameter, value);
    return undefined;
  };
}

function dayReader(parameter: string): Reader {
  return (value, isNegated, { single }, { now, timeZone }) => {
    const bound = isNegated ? undefined : readDayBound(value, now, timeZone);
    if (bound === undefined) return 'write <7d, >4w, or >2026-01-31';
    if (single.has(parameter)) return 'it is bounded already';
    single.set(parameter, `${bound.isSince ? 'IS_ON_OR_AFTER' : 'IS_BEFORE'}:${bound.day}`);
    single.set('timeZone', timeZone);
    return undefined;
  };
}

const readDescription: Reader = (value, isNegated, { single }) => {
  if (isNegated) return 'write description:text';
  single.set('description', `CONTAINS:${value}`);
  return undefined;
};

const readTag: Reader = (value, ...rest) =>
  value.split(',').every((item) => /^[^:]+:.+$/.test(item))
    ? listReader('tag')(value, ...rest)
    : 'write tag:type:value';

const stages: readonly string[] = lifecycleStages;

const readStage: Reader = (value, ...rest) =>
  value.split(',').every((item) => stages.includes(item))
    ? listReader('stage', 'lifecycle')(value, ...rest)
    : `write ${stages.slice(0, -1).join(', ')} or ${stages.at(-1)}`;

const readers: Readonly<Record<string, Reader>> = {
  type: listReader('type'),
  project: listReader('project'),
  owner: listReader('owner', 'createdBy'),
  tag: readTag,
  description: readDescription,
  segment: listReader('segment'),
  state: choiceReader('state', ['active', 'stale']),
  stage: readStage,
  archived: choiceReader('archived', ['true', 'false']),
  favourite: choiceReader('favorite', ['true', 'false']),
  created: dayReader('createdAt'),
  seen: dayReader('lastSeenAt'),
};

/** The keys of which a flag has one value, so that several tokens are alternatives. */
const alternatives: ReadonlySet<string> = new Set(['type', 'project', 'owner', 'stage']);

/** The keys of a filter; the names of environments are keys as well. */
const filterKeys: readonly string[] = Object.keys(readers);

/** The statuses of the search by what a filter calls them: on or off, or for whom it is on. */
const statusOf = { on: 'enabled', off: 'disabled', all: 'all', partial: 'partial', none: 'none' } as const;

function environmentReader(environment: string): Reader {
  return (value, isNegated, { lists, single }) => {
    const states = value.split(',');
    if (isNegated || !states.every((state) => Object.hasOwn(statusOf, state)))
      return `write ${environment}:on, off, all, partial or none`;
    const others = lists.get('status')?.included ?? [];
    // Two tokens read as if both had to match, while the search takes states of the same environment as alternatives.
    if (others.some((status) => status.startsWith(`${environment}:`)))
      return `write the states of ${environment} once, with commas between them`;
    const included = states.map((state) => `${environment}:${statusOf[state as keyof typeof statusOf]}`);
    lists.set('status', { included: [...others, ...included], excluded: [] });
    if (others.length > 0) single.set('everyEnvironment', 'true');
    return undefined;
  };
}

/** The condition of a parameter of which a flag has one value, such as its type. */
function valueCondition({ included, excluded }: ValueList): string {
  return excluded.length > 0 ? `IS_NONE_OF:${excluded.join(',')}` : `IS_ANY_OF:${included.join(',')}`;
}

/** The condition of a parameter of which a flag has several values, such as its tags. */
function setCondition({ included, excluded }: ValueList, mustHaveAll: boolean): string {
  return excluded.length > 0
    ? `EXCLUDE_IF_ANY_OF:${excluded.join(',')}`
    : `${mustHaveAll ? 'INCLUDE_ALL_OF' : 'INCLUDE_ANY_OF'}:${included.join(',')}`;
}

/** What a part of a filter with a key says. @param hasAll whether all of its values are required, instead of one */
function chipLabel({ key = '', value, isNegated }: FilterToken, hasAll: boolean): string {
  const values = value
    .split(',')
    .filter(Boolean)
    .join(hasAll && !isNegated ? ' and ' : ' or ');
  const not = isNegated ? 'not ' : '';
  switch (key) {
    case 'state':
      return values;
    case 'archived':
    case 'favourite':
      return value === 'true' ? key : `not ${key}`;
    case 'created':
      return `created ${dayWords(value)}`;
    case 'seen':
      return `last seen ${dayWords(value)}`;
    case 'owner':
      return `${not}created by ${values}`;
    case 'description':
      return `description contains ${values}`;
    default:
      return Object.hasOwn(readers, key) ? `${not}${key} ${values}` : `${key}: ${values}`;
  }
}

/** The search forgives typing errors in texts of at most so many characters. */
const maxForgivingLength = 100;

/**
 * Reads a filter such as `type:release tag:team:web production:on seen:<7d checkout`. `-key:value` excludes; a flag must match in each of
 * several environments; words without a key are
 * searched in names and tags, in any order and with typing errors unless one is quoted. A token that cannot be applied is an error; the others still filter.
 */
export function readFlagFilter(
  filter: string,
  environments: readonly string[],
  clock: ReaderClock = { now: new Date(serverNow()), timeZone: ownTimeZone() },
): FlagFilter {
  const conditions: Conditions = { lists: new Map(), texts: [], single: new Map() };
  const errors: InvalidTextToken[] = [];
  const applied: FilterToken[] = [];
  let isQuoted = false;
  for (const filterToken of filterTokensOf(filter)) {
    const { text: token, isNegated, key, value } = filterToken;
    const environment = environments.find((name) => name === key);
    const reader =
      key === undefined
        ? undefined
        : Object.hasOwn(readers, key)
          ? readers[key]
          : environment === undefined
            ? undefined
            : environmentReader(environment);
    if (reader === undefined) {
      if (key !== undefined && !token.startsWith('"')) errors.push({ token, reason: unknownKeyText(key) });
      else {
        isQuoted ||= token.includes('"');
        conditions.texts.push(token.replaceAll('"', ''));
      }
      continue;
    }
    if (value === '') {
      errors.push({ token, reason: 'a value is missing' });
      continue;
    }
    const reason = reader(value, isNegated, conditions, clock);
    if (reason === undefined) applied.push(filterToken);
    else errors.push({ token, reason });
  }
  const hasAll = (key: string | undefined): boolean =>
    key === 'segment' || (key === 'tag' && applied.filter((token) => token.key === key && !token.isNegated).length > 1);
  const chips = chipsOf(
    applied,
    ({ key = '', isNegated }) => !isNegated && alternatives.has(key),
    (token) => chipLabel(token, hasAll(token.key)),
  );
  const query: Record<string, unknown> = Object.fromEntries(conditions.single);
  for (const [parameter, values] of conditions.lists) {
    if (parameter === 'status') query[parameter] = values.included;
    else if (parameter === 'tag' || parameter === 'segment') {
      query[parameter] = setCondition(values, hasAll(parameter));
    } else query[parameter] = valueCondition(values);
  }
  if (query['state'] !== undefined) query['state'] = `IS:${String(query['state'])}`;
  // The search treats texts with commas between them as alternatives, while all words of a filter must match.
  const text = conditions.texts.join(' ').replaceAll(',', ' ').trim();
  if (text !== '') query['query'] = text;
  if (text !== '' && !isQuoted && text.length <= maxForgivingLength) query['fuzzy'] = 'true';
  return { query: query as SearchQuery, errors, chips };
}

export interface FlagFilterVocabulary {
  readonly environments: readonly string[];
  readonly types: readonly string[];
  readonly projects: readonly string[];
  readonly tags: readonly string[];
  readonly segments: readonly string[];
  /** how many flags have a value of a key, of those that the words of the filter find; absent keys are not counted */
  readonly counts?: Readonly<Record<string, ReadonlyMap<string, number>>>;
}

function valuesFor(key: string, { environments, types, projects, tags, segments, counts = {} }: FlagFilterVocabulary) {
  if (environments.includes(key)) return Object.keys(statusOf);
  const valuesByKey: Record<string, readonly string[]> = {
    type: types,
    project: projects,
    tag: tags,
    segment: segments,
    state: ['active', 'stale'],
    stage: stages,
    archived: ['true', 'false'],
    favourite: ['true', 'false'],
    created: ['<7d', '<30d', '>90d'],
    seen: ['<1d', '<7d', '>30d', '>90d'],
  };
  const values = Object.hasOwn(valuesByKey, key) ? (valuesByKey[key] ?? []) : [];
  const counted = Object.hasOwn(counts, key) ? counts[key] : undefined;
  if (counted === undefined) return values;
  return values.toSorted((one, other) => (counted.get(other) ?? 0) - (counted.get(one) ?? 0));
}

/** The keys of whose values it is shown how many of the flags have them. */
const countedKeys: ReadonlySet<string> = new Set(['type', 'project', 'state', 'tag']);

/** Whether a filter has a part whose values are suggested with counts. */
export function hasCountedKey(filter: string): boolean {
  return filterTokensOf(filter).some(({ key }) => key !== undefined && countedKeys.has(key));
}

/** The suggestions for the token at the caret. */
export function flagSuggestions(filter: string, caret: number, vocabulary: FlagFilterVocabulary): Suggestion[] {
  const { counts = {} } = vocabulary;
  return suggestionsAt(
    filter,
    caret,
    [...filterKeys, ...vocabulary.environments],
    (key) => valuesFor(key, vocabulary),
    (key, value) => (Object.hasOwn(counts, key) ? counts[key]?.get(value) : undefined),
  );
}
