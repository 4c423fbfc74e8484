import type { FacetName, FeatureSuggestion, FeatureSuggestions } from '@bunting/contracts';
import type { ReadDatabase } from '@bunting/database';
import { LRUCache } from 'lru-cache';
import {
  type AddValue,
  containsAll,
  hasAlternatives,
  isExactMatch,
  nameSimilarity,
  type SearchCaller,
} from '../search/search-store.ts';
import { readAlternatives } from '../search/word-store.ts';
import { matchedRanges } from '../search/words.ts';
import { maxFacetValues, type SuggestionQuery } from './suggestion-query.ts';

export type SuggestionCaller = Pick<SearchCaller, 'hiddenProjects'>;

/** Suggests features. */
export interface FeatureSuggester {
  suggest(query: SuggestionQuery, caller: SuggestionCaller): Promise<Suggested>;
}

export interface Suggested extends FeatureSuggestions {
  /** with Meilisearch configured: the engine that has found them */
  readonly engine?: string;
}

type SuggestedRow = Pick<FeatureSuggestion, 'name' | 'project' | 'type' | 'stale' | 'isExact'>;

/** Of the features that have the typed words or similar ones, so many are compared with what was typed: the others are as like it. */
const maxCompared = 300;
/** The counts of how many requests a process remembers. */
const maxCounts = 200;

/** SQL: which features may be suggested. */
function scopeOf({ project }: SuggestionQuery, { hiddenProjects }: SuggestionCaller, addValue: AddValue): string {
  return [
    'not archived',
    ...(project === undefined ? [] : [`project = ${addValue(project, 'text')}`]),
    ...(hiddenProjects.length === 0 ? [] : [`project <> all(${addValue(hiddenProjects, 'text[]')})`]),
  ].join(' and ');
}

/** SQL: that a name begins with what was typed. */
function startsWith(text: string, addValue: AddValue): string {
  if (text === '') return 'true';
  const typed = addValue(text, 'text');
  return `lower(name) >= ${typed} and lower(name) < ${typed} || U&'\\+10FFFF'`;
}

const facetColumns: { readonly [F in FacetName]: string } = {
  type: 'type',
  tags: 'unnest(tags)',
  project: 'project',
  state: `case when stale then 'stale' else 'active' end`,
};

/** SQL: how often each value of a property is in `matching`, as rows of `facet`, `value` and `count`. */
function countsOf(facet: FacetName): string {
  return `(select '${facet}' as facet, value, count(*) as count from (select ${facetColumns[facet]} as value from matching) as of_all
    group by value order by count desc, value limit ${maxFacetValues})`;
}

interface FacetRow {
  readonly facet: FacetName;
  readonly value: string;
  readonly count: number;
}

function facetsOf(names: readonly FacetName[], rows: readonly FacetRow[]): Pick<FeatureSuggestions, 'facets'> {
  if (names.length === 0) return {};
  const countedFor = (name: FacetName) => rows.filter(({ facet }) => facet === name);
  return {
    facets: Object.fromEntries(
      names.map((name) => [name, countedFor(name).map(({ value, count }) => ({ value, count }))]),
    ),
  };
}

/** A suggestion with the parts of its name that match. */
function suggestionOf(row: SuggestedRow, { text, words }: SuggestionQuery): FeatureSuggestion {
  const startsWithQuery = row.name.toLowerCase().startsWith(text);
  const matches = startsWithQuery && text !== '' ? [{ start: 0, end: text.length }] : matchedRanges(row.name, words);
  return { ...row, startsWithQuery, matches: [...matches] };
}

/**
 * Suggests features from the tables of the search service: by an index over the beginnings of names, and where these are too few by the
 * words that may be meant. What no word explains is looked for as a part of names and tags.
 */
export function postgresSuggester(database: ReadDatabase) {
  /** Runs a statement that is written with the values it needs. */
  const read = <Row>(write: (addValue: AddValue) => string): Promise<Row[]> => {
    const values: unknown[] = [];
    const text = write((value, type) => `$${values.push(value)}::${type}`);
    return database.read<Row>({ text }, values);
  };
  /** The counts of facets, and the version of `feature_lookup` that they are of: each is counted once for a version. */
  const counts = new LRUCache<string, { readonly version: number; readonly rows: readonly FacetRow[] }>({
    max: maxCounts,
  });
  const readBeginnings = (query: SuggestionQuery, caller: SuggestionCaller): Promise<SuggestedRow[]> =>
    read(
      (addValue) => `
        select name, project, type, stale, true as "isExact" from feature_lookup
        where ${scopeOf(query, caller, addValue)} and ${startsWith(query.text, addValue)}
        order by lower(name) limit ${query.limit}`,
    );
  const readSimilar = (
    query: SuggestionQuery,
    caller: SuggestionCaller,
    alternatives: readonly (readonly string[])[],
  ): Promise<SuggestedRow[]> =>
    read((addValue) => {
      const exactWords = query.words.map((word) => `(strpos(search_text, ${addValue(word, 'text')}) > 0)::integer`);
      return `
        with candidate as materialized (
          select name, project, type, stale, search_text from feature_lookup
          where ${scopeOf(query, caller, addValue)} and ${hasAlternatives(alternatives, addValue)} limit ${maxCompared})
        select name, project, type, stale, ${isExactMatch(query.words, addValue)} as "isExact" from candidate
        order by ${exactWords.join(' + ')} + ${nameSimilarity(query.words, addValue)} desc, name limit ${query.limit}`;
    });
  const readContaining = (query: SuggestionQuery, caller: SuggestionCaller): Promise<SuggestedRow[]> =>
    read(
      (addValue) => `
        select name, project, type, stale, true as "isExact" from feature_lookup
        where ${scopeOf(query, caller, addValue)} and ${containsAll(query.words, addValue)}
        order by length(name), name limit ${query.limit}`,
    );
  const readFacets = async (
    query: SuggestionQuery,
    caller: SuggestionCaller,
    alternatives: readonly (readonly string[])[],
  ): Promise<readonly FacetRow[]> => {
    if (query.facets.length === 0) return [];
    const { limit: _limit, ...counted } = query;
    const key = JSON.stringify([counted, caller.hiddenProjects]);
    const known = counts.get(key);
    const [found] = await read<{ version: number; rows: FacetRow[] | null }>((addValue) => {
      const { text, words, facets } = query;
      const contains = words.length === 0 ? startsWith(text, addValue) : containsAll(words, addValue);
      const finds = isComplete(alternatives) ? `(${contains} or ${hasAlternatives(alternatives, addValue)})` : contains;
      return `
        with matching as materialized (
          select type, tags, project, stale from feature_lookup where ${scopeOf(query, caller, addValue)} and ${finds})
        select version, case when version = ${addValue(known?.version ?? null, 'bigint')} then null else (
          select coalesce(json_agg(counted), '[]') from (${facets.map(countsOf).join(' union all ')}) as counted) end as rows
        from lookup_version`;
    });
    const rows = found?.rows ?? known?.rows ?? [];
    if (found !== undefined) counts.set(key, { version: found.version, rows });
    return rows;
  };
  return {
    /** The features whose name begins with what was typed, by name. */
    readBeginnings,
    /** The features of these names that may be suggested, in their order. */
    read: (query: SuggestionQuery, caller: SuggestionCaller, names: readonly string[]): Promise<SuggestedRow[]> =>
      read(
        (addValue) => `
          select name, project, type, stale, ${isExactMatch(query.words, addValue)} as "isExact" from unnest(${addValue(names, 'text[]')}) with ordinality as found (name, nth)
            join feature_lookup using (name)
          where ${scopeOf(query, caller, addValue)} order by nth`,
      ),
    suggest: async (
      query: SuggestionQuery,
      caller: SuggestionCaller,
      beginnings = readBeginnings(query, caller),
    ): Promise<FeatureSuggestions> => {
      const rows = [...(await beginnings)];
      const isFull = rows.length === query.limit;
      const alternatives =
        isFull && query.facets.length === 0 ? [] : ((await readAlternatives(database, [query.words]))[0] ?? []);
      if (!isFull && isComplete(alternatives)) rows.push(...(await readSimilar(query, caller, alternatives)));
      if (rows.length === 0 && query.words.some((word) => word.length > 2))
        rows.push(...(await readContaining(query, caller)));
      const counted = await readFacets(query, caller, alternatives);
      return { suggestions: suggestionsOf(rows, query), ...facetsOf(query.facets, counted) };
    },
  };
}

export type PostgresSuggester = ReturnType<typeof postgresSuggester>;

/** Whether each typed word may mean a word of features. */
function isComplete(alternatives: readonly (readonly string[])[]): boolean {
  return alternatives.length > 0 && alternatives.every(({ length }) => length > 0);
}

/** The suggestions of rows in the order of their likeliness, each feature once; those that contain what was typed come first. */
export function suggestionsOf(rows: readonly SuggestedRow[], query: SuggestionQuery): FeatureSuggestion[] {
  return [...new Map(rows.map((row) => [row.name, row])).values()]
    .toSorted((one, other) => Number(other.isExact) - Number(one.isExact))
    .slice(0, query.limit)
    .map((row) => suggestionOf(row, query));
}
