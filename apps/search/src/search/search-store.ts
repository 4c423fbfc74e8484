import { reachExtents, type SearchFeaturesResponse } from '@bunting/contracts';
import { escapeLike, onlyRow, type ReadDatabase } from '@bunting/database';
import { LRUCache } from 'lru-cache';
import type { CreatorFilter, DayFilter, FeatureQuery, SetFilter, Sort, ValueFilter } from './feature-query.ts';
import { statusOfStage } from '../documents/feature-document.ts';
import { readAlternatives } from './word-store.ts';
import { matchedRanges } from './words.ts';

/** Of each text of a fuzzy query, for each of its words, the words of features that may be meant. */
type AlternativesOfTexts = Awaited<ReturnType<typeof readAlternatives>>;

/** Returns a condition in another form. */
type ConditionRewriter = (condition: string) => string;

/** Adds a value to a statement and returns its placeholder. */
export type AddValue = (value: unknown, type: string) => string;

/** A condition on `feature_lookup` that excludes features. */
interface Exclusion {
  readonly condition: string;
  /** the negated condition, in the form that is fastest in a scan of features in their order */
  readonly absence: string;
}

/** Conditions on `feature_lookup`, as SQL. No text of the query is in it: all values have placeholders. */
interface Conditions {
  readonly required: readonly string[];
  readonly excluded: readonly Exclusion[];
  /** whether few features may meet one of the required conditions */
  readonly isSelective: boolean;
}

function not(condition: string): string {
  return `not (${condition})`;
}
function all(conditions: readonly string[]): string {
  return conditions.join(' and ');
}
function anyOf(conditions: readonly string[]): string {
  return `(${conditions.map((one) => `(${one})`).join(' or ')})`;
}

const sameFeature = 'select from feature_lookup other where other.name = feature_lookup.name and';

/** As an anti-join: PostgreSQL tests each feature of a page near the start, or finds all excluded ones by their index. */
const noneWith: ConditionRewriter = (condition) => `not exists (${sameFeature} ${condition})`;

/**
 * Whether a feature is among those that meet a condition. PostgreSQL finds them all by an index, hashes their names, and passes the
 * features before the page in the order of another index. A join loses that order: all features would be sorted.
 */
const isAmong: ConditionRewriter = (condition) =>
  `case when exists (${sameFeature} ${condition}) then true else false end`;

function patternOf(text: string): string {
  return `%${escapeLike(text)}%`;
}

/** Whether a text has a trigram, by which the index of texts can narrow a search. */
function hasTrigram(text: string): boolean {
  return /[\p{L}\p{N}]{3}/u.test(text);
}

/**
 * That a column contains one of the texts. For a pattern without a trigram PostgreSQL may read the whole index of texts and then
 * all features; written as a function, which no index supports, it reads the features alone.
 */
function containsAny(column: 'search_text' | 'description', texts: readonly string[], addValue: AddValue): string {
  const indexed = texts.filter(hasTrigram);
  const short = texts.filter((text) => !hasTrigram(text));
  return anyOf([
    ...(indexed.length === 0 ? [] : [`${column} like any(${addValue(indexed.map(patternOf), 'text[]')})`]),
    ...short.map((text) => `strpos(${column}, ${addValue(text, 'text')}) > 0`),
  ]);
}

function whetherArchived({ archived }: FeatureQuery): string {
  if (archived === undefined) return 'archived is not null';
  return archived ? 'archived' : 'not archived';
}

function createdBy({ ids, names }: CreatorFilter, addValue: AddValue): string {
  return `(created_by_id = any(${addValue(ids, 'bigint[]')}) or created_by_name = any(${addValue(names, 'text[]')}))`;
}

function requiresAll({ mode }: SetFilter): boolean {
  return mode === 'all' || mode === 'not all';
}
function isExclusion({ mode }: SetFilter): boolean {
  return mode === 'none' || mode === 'not all';
}

function taggedWith(tag: SetFilter, addValue: AddValue): string {
  return `tags ${requiresAll(tag) ? '@>' : '&&'} ${addValue(tag.values, 'text[]')}`;
}

function inSegments(segment: SetFilter, addValue: AddValue): string {
  const named = (names: readonly string[]): string =>
    `segment_ids && array(select id from segment where name = any(${addValue(names, 'text[]')}))`;
  return requiresAll(segment) ? segment.values.map((name) => named([name])).join(' and ') : named(segment.values);
}

function beforeOrFromDay(column: string, { before, midnight }: DayFilter, addValue: AddValue): string {
  return `${column} ${before ? '<' : '>='} to_timestamp(${addValue(midnight.getTime() / 1_000, 'double precision')})`;
}

function conditionsOf(
  query: FeatureQuery,
  { hiddenProjects, userId }: SearchCaller,
  addValue: AddValue,
  negate: ConditionRewriter,
): Conditions {
  const { stale, stages, tag, segment, status, created, lastSeen, favorite } = query;
  const required = [whetherArchived(query)];
  const excluded: Exclusion[] = [];
  const add = (
    condition: string,
    { isNot, absenceOf = negate }: { isNot: boolean; absenceOf?: ConditionRewriter },
  ): void => {
    if (isNot) excluded.push({ condition, absence: absenceOf(condition) });
    else required.push(condition);
  };
  const addValueFilter = (column: 'project' | 'type', { values, isNot }: ValueFilter): void =>
    add(`${column} = any(${addValue(values, 'text[]')})`, { isNot, absenceOf: not });

  if (hiddenProjects.length > 0) addValueFilter('project', { values: hiddenProjects, isNot: true });
  if (query.project !== undefined) addValueFilter('project', query.project);
  if (query.type !== undefined) addValueFilter('type', query.type);
  if (stale !== undefined) required.push(`stale = any(${addValue(stale, 'boolean[]')})`);
  if (query.createdBy !== undefined) add(createdBy(query.createdBy, addValue), query.createdBy);
  if (tag !== undefined) add(taggedWith(tag, addValue), { isNot: isExclusion(tag) });
  if (segment !== undefined) add(inSegments(segment, addValue), { isNot: isExclusion(segment) });
  if (stages !== undefined) required.push(`statuses && ${addValue(stages.map(statusOfStage), 'text[]')}`);
  for (const alternatives of status ?? []) required.push(`statuses && ${addValue(alternatives, 'text[]')}`);
  if (created !== undefined) required.push(beforeOrFromDay('created_at', created, addValue));
  if (lastSeen !== undefined) required.push(beforeOrFromDay('last_seen_at', lastSeen, addValue));
  if (favorite !== undefined) add(`favorited_by @> ${addValue([userId], 'integer[]')}`, { isNot: !favorite });
  if (query.texts.length > 0 && !query.fuzzy) required.push(containsAny('search_text', query.texts, addValue));
  if (query.description !== undefined)
    required.push(
      `name in (select name from feature_description where ${containsAny('description', query.description, addValue)})`,
    );
  const isInclusion = (filter: SetFilter | undefined): boolean => filter !== undefined && !isExclusion(filter);
  // A single letter is in most texts: to collect all matches takes twice as long as to read a page in order and count.
  const mayBeRare = query.fuzzy || query.texts.every((text) => text.length > 1);
  const isSelective =
    // The indexes have the order of archived features and that of the others.
    query.archived === undefined ||
    (query.texts.length > 0 && mayBeRare) ||
    query.createdBy?.isNot === false ||
    favorite === true ||
    query.description !== undefined ||
    isInclusion(query.tag) ||
    isInclusion(query.segment);
  return { required, excluded, isSelective };
}

/** That a feature contains all of some words: no index supports `like all(…)`. */
export function containsAll(words: readonly string[], addValue: AddValue): string {
  return all(words.map((word) => containsAny('search_text', [word], addValue)));
}

/** That a feature has, for each typed word, one of the words that may be meant. */
export function hasAlternatives(alternatives: readonly (readonly string[])[], addValue: AddValue): string {
  return all(alternatives.map((words) => `search_words(name, search_text) && ${addValue(words, 'text[]')}`));
}

/** SQL: whether a feature contains each of some words as it is typed. */
export function isExactMatch(words: readonly string[], addValue: AddValue): string {
  return words.length === 0 ? 'true' : all(words.map((word) => `strpos(search_text, ${addValue(word, 'text')}) > 0`));
}

/** SQL: how similar a name is to some words, from 0 to 1, whatever their order. */
export function nameSimilarity(words: readonly string[], addValue: AddValue): string {
  return `similarity(regexp_replace(name, '([a-z0-9])([A-Z])', '\\1 \\2', 'g'), ${addValue(words.join(' '), 'text')})`;
}

/** What a selection reads of `feature_lookup`, and the conditions on it. */
interface Selection {
  readonly columns: string;
  readonly conditions: readonly string[];
}

/** Writes the selection of the features that a fuzzy query finds, each once, with their `relevance`. */
type FuzzySelection = (selection: Selection, addValue: AddValue) => string;

/**
 * The features that a fuzzy query finds, with their relevance: those whose name begins with a text, contains it, or that contain all of its
 * words; then those that have, for each of its words, one that may be meant.
 */
function fuzzyMatches(
  { texts, words }: FeatureQuery,
  meant: AlternativesOfTexts,
  { columns, conditions }: Selection,
  addValue: AddValue,
): string {
  const where = (matches: readonly string[]): string => `from feature_lookup where ${all([...matches, ...conditions])}`;
  const found = texts.flatMap((text, nth) => {
    const typed = words[nth] ?? [];
    const wholeText = addValue(text, 'text');
    const similarity = (): string => nameSimilarity(typed, addValue);
    const share = `length(${wholeText})::float8 / length(name)`;
    // A name that lacks a single word resembles it by chance alone.
    const elsewhere = typed.length > 1 ? `2 + ${similarity()}` : '2';
    const contains = containsAll(typed.length === 0 ? [text] : typed, addValue);
    const containing = `
      select ${columns}, case strpos(lower(name), ${wholeText}) when 0 then ${elsewhere} when 1 then 4 + ${share} else 3 + ${share} end
        as relevance ${where([contains])}`;
    // A word that contains a single typed one is in features that contain it, too.
    const alternatives = (meant[nth] ?? []).map((all) =>
      typed.length === 1 ? all.filter((word) => !word.includes(typed[0] ?? '')) : all,
    );
    if (alternatives.length === 0 || alternatives.some(({ length }) => length === 0)) return [containing];
    const similar = where([hasAlternatives(alternatives, addValue), not(contains)]);
    return [containing, `select ${columns}, ${similarity()} as relevance ${similar}`];
  });
  const selection = found.join(' union all ');
  if (texts.length === 1) return selection;
  return `select distinct on (name) * from (${selection}) as found order by name, relevance desc`;
}

const columnOf = {
  createdAt: 'created_at',
  name: 'name',
  type: 'type',
  project: 'project',
  stale: 'stale',
  lastSeenAt: 'last_seen_at',
} as const;

/** The order within each group of `groupsOf`. */
function orderOf(sort: Sort | 'relevance'): string {
  if (sort === 'relevance') return 'relevance desc, created_at, name';
  if (typeof sort.by === 'object' || sort.by === 'stale') return 'created_at, name';
  const first = `${columnOf[sort.by]}${sort.descending ? ' desc' : ''}`;
  if (sort.by === 'name') return first;
  return `${first}${sort.by === 'createdAt' ? '' : ', created_at'}, name`;
}

/** SQL: an order backwards. Nulls are last in an ascending order and first in a descending one, so they are reversed as well. */
function reversed(order: string): string {
  const keys = order.split(', ');
  return keys.map((key) => (key.endsWith(' desc') ? key.slice(0, -' desc'.length) : `${key} desc`)).join(', ');
}

/** Conditions that partition features by the first sort key of a search, in the order of the pages. */
function sortGroupsOf(
  sort: Sort | 'relevance',
  addValue: AddValue,
  affirm: ConditionRewriter,
): readonly (readonly string[])[] {
  if (sort === 'relevance') return [[]];
  const { by, descending } = sort;
  if (by === 'stale') return descending ? [['stale'], ['not stale']] : [['not stale'], ['stale']];
  // Features that were never seen come last. An index that is read backwards has them first.
  if (by === 'lastSeenAt' && descending) return [['last_seen_at is not null'], ['last_seen_at is null']];
  if (typeof by !== 'object') return [[]];
  const ascending = by.key === 'enabled' ? ['disabled', 'enabled'] : ['disabled', ...reachExtents];
  const groups = (descending ? ascending.toReversed() : ascending).map((state) =>
    affirm(`statuses && ${addValue([`${by.environment}:${state}`], 'text[]')}`),
  );
  return [...groups.map((group) => [group]), groups.map(not)];
}

/**
 * Conditions of the groups that follow one another on the pages: favorites before the others, then by the first sort key.
 * A feature is in exactly one group.
 */
function groupsOf(
  { favoritesFirst, sort }: FeatureQuery,
  addValue: AddValue,
  {
    isFavorite,
    negate,
    affirm,
  }: { readonly isFavorite: string; readonly negate: ConditionRewriter; readonly affirm: ConditionRewriter },
): readonly (readonly string[])[] {
  const groups = sortGroupsOf(sort, addValue, affirm);
  if (!favoritesFirst) return groups;
  return [isFavorite, negate(isFavorite)].flatMap((condition) => groups.map((group) => [condition, ...group]));
}

type Groups = readonly (readonly string[])[];

/** The columns of `feature_lookup` that the selection of a page reads. */
function pageColumns({ sort, favoritesFirst }: FeatureQuery): string {
  const sortColumn = sort === 'relevance' ? [] : [typeof sort.by === 'object' ? 'statuses' : columnOf[sort.by]];
  return [...new Set(['name', 'created_at', ...sortColumn, ...(favoritesFirst ? ['favorited_by'] : [])])].join(', ');
}

/** From this offset on, the features that a condition excludes are hashed before features are passed one by one. */
const deepOffset = 1_000;

/** A page of fewer matches is made of all of them, which an index finds. */
const manyMatches = 1_000;
/** A page of many matches is made of the first features in their order, if that many contain it. */
const nearestFeatures = 2_000;

/** Whether the first features in the order of a search, which an index has, may contain its page. */
function mayBeNear(
  { archived, sort, favoritesFirst, fuzzy, description, offset, limit }: FeatureQuery,
  { total }: CountedTotal,
): boolean {
  // A join with candidates or descriptions would lose the order.
  if (archived === undefined || sort === 'relevance' || favoritesFirst || fuzzy || description !== undefined)
    return false;
  const { by, descending } = sort;
  if (typeof by === 'object' || by === 'stale' || (descending && by !== 'name' && by !== 'createdAt')) return false;
  return total > manyMatches && offset + limit <= nearestFeatures;
}

interface SearchStatement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** A total, and the version of `feature_lookup` that it is of. */
interface CountedTotal {
  readonly version: number;
  readonly total: number;
}

/**
 * Identifies the features that a search counts, of any page and order; undefined where they do not depend on `feature_lookup` alone, since segments
 * are renamed without it.
 */
function totalKeyOf(query: FeatureQuery, { userId, hiddenProjects }: SearchCaller): string | undefined {
  const { sort: _sort, favoritesFirst: _first, offset: _offset, limit: _limit, segment, ...filters } = query;
  if (segment !== undefined) return undefined;
  return JSON.stringify([filters, query.favorite === undefined ? null : userId, hiddenProjects]);
}

/**
 * One statement that finds the names of a page, counts all matches, and reads the documents of the page. Its row has `total`
 * and `features`, the members of a JSON array as text.
 * @param selectFuzzy of a fuzzy query
 * @param counted a total that was counted before; it is counted again if features have changed since
 */
function searchStatement(
  query: FeatureQuery,
  searcher: SearchCaller,
  selectFuzzy: FuzzySelection,
  counted?: CountedTotal,
): SearchStatement {
  const values: unknown[] = [];
  const addValue: AddValue = (value, type) => `$${values.push(value)}::${type}`;
  const isDeep = query.offset >= deepOffset;
  const negate: ConditionRewriter = isDeep ? (condition) => not(isAmong(condition)) : noneWith;
  const { required, excluded, isSelective } = conditionsOf(query, searcher, addValue, negate);
  const unchanged: ConditionRewriter = (condition) => condition;
  const isFuzzy = query.fuzzy && query.texts.length > 0;
  const isFavorite = `favorited_by @> ${addValue([searcher.userId], 'integer[]')}`;
  const [limit, offset] = [addValue(query.limit, 'bigint'), addValue(query.offset, 'bigint')];
  const subqueries: string[] = [];
  const partsOf = (from: string, conditions: readonly string[], groups: Groups, order: string): string =>
    groups
      .map((group) => {
        const where = [...conditions, ...group];
        return `(select name from ${from}${where.length === 0 ? '' : ` where ${all(where)}`} order by ${order})`;
      })
      .join(' union all ');
  const order = orderOf(query.sort);
  const isUnchanged = ({ version }: CountedTotal): string =>
    `(select version from lookup_version) = ${addValue(version, 'bigint')}`;
  const pageOf = (from: string, conditions: readonly string[], groups: Groups, knownTotal?: CountedTotal): string => {
    const forwards = `
      array(select name from (${partsOf(from, conditions, groups, order)}) as found limit ${limit} offset ${offset})`;
    if (knownTotal === undefined || query.offset <= knownTotal.total / 2) return forwards;
    // The end of the list is nearer, as long as no feature has changed.
    const { total: size } = knownTotal;
    const [most, after] = [Math.min(query.limit, size - query.offset), size - query.offset - query.limit].map((rows) =>
      addValue(Math.max(0, rows), 'bigint'),
    );
    const backwards = partsOf(from, conditions, groups.toReversed(), reversed(order));
    return `case when ${isUnchanged(knownTotal)}
        then array(select name from (
          select name, row_number() over () as nth from (${backwards}) as found limit ${most} offset ${after}) as page
          order by nth desc)
        else ${forwards} end`;
  };

  let names: string;
  let total: string;
  if (isSelective) {
    // All matches are found first. A plan that scans for the first few in their order may test nearly all features.
    const conditions = [...required, ...excluded.map(({ condition }) => not(condition))];
    const columns = pageColumns(query);
    const matching = isFuzzy
      ? selectFuzzy({ columns, conditions }, addValue)
      : `select ${columns} from feature_lookup where ${all(conditions)}`;
    subqueries.push(`matching as materialized (${matching})`);
    names = pageOf('matching', [], groupsOf(query, addValue, { isFavorite, negate: not, affirm: unchanged }));
    total = '(select count(*) from matching)';
    if (counted !== undefined && mayBeNear(query, counted)) {
      // The page is among the first features in their order, if these have enough matches; PostgreSQL then never finds all.
      subqueries.push(`nearest as materialized (select array(
        select name from (
          select * from feature_lookup where ${whetherArchived(query)} order by ${order} limit ${nearestFeatures}) as feature_lookup
        where ${all(conditions)} limit ${limit} offset ${offset}) as names)`);
      names = `case when ${isUnchanged(counted)} and (select cardinality(names) from nearest) = ${limit}
        then (select names from nearest) else ${names} end`;
    }
  } else {
    const groups = groupsOf(query, addValue, { isFavorite, negate, affirm: isDeep ? isAmong : unchanged });
    names = pageOf('feature_lookup', [...required, ...excluded.map(({ absence }) => absence)], groups, counted);
    const count = (conditions: readonly string[]): string =>
      `(select count(*) from feature_lookup where ${all(conditions)})`;
    // Excluded features are usually few: counting them is faster than testing all others.
    const excludedAny = anyOf(excluded.map(({ condition }) => condition));
    total = excluded.length === 0 ? count(required) : `${count(required)} - ${count([...required, excludedAny])}`;
  }
  subqueries.push(`page as materialized (select ${names} as names)`);
  // PostgreSQL counts only if it comes to the other branch.
  if (counted !== undefined)
    total = `case when ${isUnchanged(counted)} then ${addValue(counted.total, 'bigint')} else ${total} end`;
  const exact = `
      array(select ${anyOf(query.words.map((words) => isExactMatch(words, addValue)))}
        from unnest(names) with ordinality as named (name, nth) join feature_lookup using (name) order by nth)`;
  const text = `
    with ${subqueries.join(', ')}
    select names, ${isFuzzy ? exact : `'{}'::boolean[]`} as exact, ${total} as total, (select version from lookup_version) as version,
      (select coalesce(string_agg(found.document, ',' order by nth), '')
        from unnest(names) with ordinality as named (name, nth) cross join lateral (
          select '{"favorite":' || (${isFavorite})::text || (
            select ',"segments":' || coalesce(json_agg(segment.name order by segment.name, segment.id), '[]')::text
              || ',"segmentIds":' || coalesce(json_agg(segment.id order by segment.name, segment.id), '[]')::text
            from segment where segment.id = any(segment_ids) and segment.name is not null
          ) || ',' || right(document::text, -1) as document
          from feature_lookup join feature_document using (name) where feature_lookup.name = named.name limit 1
        ) as found) as features
    from page`;
  return { text, values };
}

/** A page of features, and of a fuzzy search whether each contains what was typed. */
interface PageOfFeatures extends Pick<SearchResult, 'features' | 'total'> {
  readonly names: readonly string[];
  readonly exact: readonly boolean[];
}

function resultOf({ features, total, names, exact }: PageOfFeatures, { words, fuzzy }: FeatureQuery): SearchResult {
  if (!fuzzy || words.length === 0) return { features, total };
  const matches = names.map((name, nth) => ({
    isExact: exact[nth] === true,
    parts: [...matchedRanges(name, words.flat())],
  }));
  return { features, total, matches };
}

/** How many totals a process remembers. */
const maxTotals = 1_000;

/** Finds features in the tables of the search service, in one statement; a fuzzy search reads before which words may be meant. */
export function postgresFeatureSearch(database: ReadDatabase) {
  const totals = new LRUCache<string, CountedTotal>({ max: maxTotals });
  const run = async ({ text, values }: SearchStatement): Promise<PageOfFeatures & CountedTotal> => {
    // Not prepared: which plan is best depends on the values.
    const { features, ...page } = onlyRow(await database.read<PageOfFeatures & CountedTotal>({ text }, values));
    return { features: `[${features}]`, ...page };
  };
  return {
    search: async (query: FeatureQuery, searcher: SearchCaller): Promise<SearchResult> => {
      const meant = await readAlternatives(database, query.words);
      const key = totalKeyOf(query, searcher);
      const counted = key === undefined ? undefined : totals.get(key);
      const { version, ...page } = await run(
        searchStatement(
          query,
          searcher,
          (selection, addValue) => fuzzyMatches(query, meant, selection, addValue),
          counted,
        ),
      );
      const { total } = page;
      if (key !== undefined) totals.set(key, { total, version });
      return resultOf(page, query);
    },
    /** Reads the features of a page that another index found, in its order: those that match the query and that the caller may see. */
    read: async (query: FeatureQuery, searcher: SearchCaller, names: readonly string[]): Promise<SearchResult> => {
      const page = await run(
        searchStatement(
          { ...query, offset: 0, limit: names.length },
          searcher,
          ({ columns, conditions }, addValue) => `
            select ${columns}, -nth as relevance
            from unnest(${addValue(names, 'text[]')}) with ordinality as found (name, nth) join feature_lookup using (name)
            where ${all(conditions)}`,
        ),
      );
      return resultOf(page, query);
    },
  };
}
export type PostgresFeatureSearch = ReturnType<typeof postgresFeatureSearch>;

/** The user on whose behalf a search runs. */
export interface SearchCaller {
  /** the user whose favorites are marked, and sorted first on request */
  readonly userId: number;
  /** projects whose features are neither found nor counted for this user */
  readonly hiddenProjects: readonly string[];
}

/** One page of matching features. */
export interface SearchResult {
  /** the features of the page, as JSON text of an array */
  readonly features: string;
  /** the number of matches on all pages */
  readonly total: number;
  /** of a fuzzy search: how each feature of the page matches */
  readonly matches?: NonNullable<SearchFeaturesResponse['matches']>;
  /** for a fuzzy search with Meilisearch configured: the engine that compared the texts */
  readonly engine?: string;
}

/** Searches features. `test/feature-search-behaviour.ts` holds all implementations to the same results. */
export interface FeatureSearch {
  search(query: FeatureQuery, searcher: SearchCaller): Promise<SearchResult>;
}
