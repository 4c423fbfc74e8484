import type { RequestOf, SearchFeatures } from '@bunting/contracts';
import { readDayBound } from '../../filtering/day-bound.ts';
import type { FilterError } from '../../filtering/filter-error.ts';
import { type Suggestion, suggestionsAt } from '../../filtering/filter-suggestions.ts';
import { filterTokensOf } from '../../filtering/filter-tokens.ts';
import { filterMessages as text } from '../../messages/filters.ts';

/** The parameters of a search, without its page. */
export type SearchQuery = Omit<RequestOf<typeof SearchFeatures>['query'], 'offset' | 'limit'>;

export interface FlagFilter {
  readonly query: SearchQuery;
  readonly errors: readonly FilterError[];
}

/** What the reading of a filter collects. */
interface Collected {
  readonly lists: Map<string, { yes: string[]; no: string[] }>;
  readonly texts: string[];
  readonly single: Map<string, string>;
}

type Reader = (value: string, isNegated: boolean, into: Collected, now: Date) => string | undefined;

/** A list filter: values with commas between them, several keys of one name add up. */
const list =
  (key: string, parameter = key): Reader =>
  (value, isNegated, { lists }) => {
    const entry = lists.get(parameter) ?? { yes: [], no: [] };
    if ((isNegated ? entry.yes : entry.no).length > 0) return text.bothWays(key);
    (isNegated ? entry.no : entry.yes).push(...value.split(',').filter((one) => one !== ''));
    lists.set(parameter, entry);
    return undefined;
  };

const oneOf =
  (parameter: string, allowed: readonly string[]): Reader =>
  (value, isNegated, { single }) => {
    if (isNegated || !allowed.includes(value)) return text.oneOf(allowed);
    single.set(parameter, value);
    return undefined;
  };

const day =
  (parameter: string): Reader =>
  (value, isNegated, { single }, now) => {
    const bound = isNegated ? undefined : readDayBound(value, now);
    if (bound === undefined) return text.day;
    single.set(parameter, `${bound.isSince ? 'IS_ON_OR_AFTER' : 'IS_BEFORE'}:${bound.day}`);
    return undefined;
  };

const tag: Reader = (value, ...rest) =>
  value.split(',').every((one) => /^[^:]+:.+$/.test(one)) ? list('tag')(value, ...rest) : text.tag;

const readers: Readonly<Record<string, Reader>> = {
  type: list('type'),
  project: list('project'),
  owner: list('owner', 'createdBy'),
  tag,
  segment: list('segment'),
  state: oneOf('state', ['active', 'stale']),
  archived: oneOf('archived', ['true', 'false']),
  favourite: oneOf('favorite', ['true', 'false']),
  created: day('createdAt'),
  seen: day('lastSeenAt'),
};

/** The keys that a filter understands, beside the names of environments. */
const filterKeys: readonly string[] = Object.keys(readers);

const environmentReader =
  (environment: string): Reader =>
  (value, isNegated, { lists }) => {
    if (isNegated || (value !== 'on' && value !== 'off'))
      return text.oneOf([`${environment}:on`, `${environment}:off`]);
    // The search matches any of the given states, while two tokens read as if both had to match.
    if (lists.has('status')) return text.oneEnvironment;
    lists.set('status', { yes: [`${environment}:${value === 'on' ? 'enabled' : 'disabled'}`], no: [] });
    return undefined;
  };

const valueFilter = ({ yes, no }: { yes: string[]; no: string[] }): string =>
  no.length > 0 ? `IS_NONE_OF:${no.join(',')}` : `IS_ANY_OF:${yes.join(',')}`;

const setFilter = ({ yes, no }: { yes: string[]; no: string[] }, isAll: boolean): string =>
  no.length > 0
    ? `EXCLUDE_IF_ANY_OF:${no.join(',')}`
    : `${isAll ? 'INCLUDE_ALL_OF' : 'INCLUDE_ANY_OF'}:${yes.join(',')}`;

/**
 * Reads a filter such as `type:release tag:team:web production:on seen:<7d checkout`. `-key:value` excludes; words without a key are
 * searched in names and tags. What is not understood is a fault, and the rest still filters.
 */
export const readFlagFilter = (filter: string, environments: readonly string[], now = new Date()): FlagFilter => {
  const collected: Collected = { lists: new Map(), texts: [], single: new Map() };
  const errors: FilterError[] = [];
  const tagKeys: string[] = [];
  for (const { text: token, isNegated, key, value } of filterTokensOf(filter)) {
    const environment = environments.find((name) => name === key);
    const reader =
      key === undefined
        ? undefined
        : (readers[key] ?? (environment === undefined ? undefined : environmentReader(environment)));
    if (reader === undefined) {
      if (key !== undefined && !token.startsWith('"')) errors.push({ token, reason: text.unknownKey(key) });
      else collected.texts.push(token.replaceAll('"', ''));
      continue;
    }
    if (value === '') {
      errors.push({ token, reason: text.noValue });
      continue;
    }
    if (key === 'tag' && !isNegated) tagKeys.push(value);
    const reason = reader(value, isNegated, collected, now);
    if (reason !== undefined) errors.push({ token, reason });
  }
  const query: Record<string, unknown> = Object.fromEntries(collected.single);
  for (const [parameter, values] of collected.lists) {
    if (parameter === 'status') query[parameter] = values.yes;
    else if (parameter === 'tag' || parameter === 'segment') {
      query[parameter] = setFilter(values, parameter === 'segment' || tagKeys.length > 1);
    } else query[parameter] = valueFilter(values);
  }
  if (query['state'] !== undefined) query['state'] = `IS:${String(query['state'])}`;
  // The search treats texts with commas between them as alternatives, while all words of a filter must match.
  if (collected.texts.length > 0) query['query'] = collected.texts.join(' ').replaceAll(',', ' ').trim();
  return { query: query as SearchQuery, errors };
};

export interface FlagFilterVocabulary {
  readonly environments: readonly string[];
  readonly types: readonly string[];
  readonly projects: readonly string[];
  readonly tags: readonly string[];
  readonly segments: readonly string[];
}

const valuesFor = (key: string, { environments, types, projects, tags, segments }: FlagFilterVocabulary) => {
  if (environments.includes(key)) return ['on', 'off'];
  const known: Record<string, readonly string[]> = {
    type: types,
    project: projects,
    tag: tags,
    segment: segments,
    state: ['active', 'stale'],
    archived: ['true', 'false'],
    favourite: ['true', 'false'],
    created: ['<7d', '<30d', '>90d'],
    seen: ['<1d', '<7d', '>30d', '>90d'],
  };
  return known[key] ?? [];
};

/** What could follow at the caret. */
export const flagSuggestions = (filter: string, caret: number, vocabulary: FlagFilterVocabulary): Suggestion[] =>
  suggestionsAt(filter, caret, [...filterKeys, ...vocabulary.environments], (key) => valuesFor(key, vocabulary));
