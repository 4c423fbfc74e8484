import type { FacetName, FeatureSuggestions } from '@bunting/contracts';
import type { FeatureQuery, SetFilter, ValueFilter } from '../search/feature-query.ts';
import { statusOfStage } from '../documents/feature-document.ts';
import { maxFacetValues } from '../suggestions/suggestion-query.ts';
import { escapedKey, unescapedKey } from './index-document.ts';

/** The projects that are hidden from the caller of a search. */
interface HiddenProjects {
  readonly hiddenProjects: readonly string[];
}

/** How many hits the index can page through, which is one of its settings. */
const maxTotalHits = 1_000;
/** Meilisearch takes time for the square of the values in a filter. */
const maxFilterValues = 500;

/** A search of the index. */
export interface IndexQuery {
  readonly q: string;
  readonly filter: readonly string[];
  readonly offset: number;
  readonly limit: number;
}

/**
 * Which engine answers a search. Meilisearch ranks one text by relevance, page by page. Everything else is PostgreSQL's: exact searches,
 * several texts, other orders, favourites, dates, descriptions, pages beyond those of the index, and filters too long for it.
 */
export function engineFor(query: FeatureQuery, { hiddenProjects }: HiddenProjects) {
  const { words, sort, favoritesFirst, favorite, created, lastSeen, description, offset, limit } = query;
  const isOneText = query.fuzzy && query.texts.length === 1 && (words[0] ?? []).length > 0;
  const isInIndex =
    favorite === undefined && created === undefined && lastSeen === undefined && description === undefined;
  const isPageOfIndex = sort === 'relevance' && !favoritesFirst && offset + limit <= maxTotalHits;
  const lists = [query.project, query.type, query.tag, query.segment].map((filter) => filter?.values ?? []);
  const creators = [...(query.createdBy?.ids ?? []), ...(query.createdBy?.names ?? [])];
  const values = [...lists, creators, query.status?.flat() ?? [], hiddenProjects].reduce(
    (sum, list) => sum + list.length,
    0,
  );
  return isOneText && isInIndex && isPageOfIndex && values <= maxFilterValues ? 'meilisearch' : 'postgres';
}

/** Values as a filter has them: JSON is how Meilisearch writes texts, and escaped keys are compared exactly. */
function listOf(values: readonly (string | number)[]): string {
  return `[${values.map((value) => JSON.stringify(typeof value === 'string' ? escapedKey(value) : value)).join(', ')}]`;
}

function isIn(field: string, values: readonly (string | number)[]): string {
  return `${field} IN ${listOf(values)}`;
}

/** A condition or its opposite. Meilisearch's `!=` finds nothing in a field that no document has; `NOT` does not depend on it. */
function unless(isNot: boolean, condition: string): string {
  return isNot ? `NOT (${condition})` : condition;
}

function valueCondition(field: string, { isNot, values }: ValueFilter): string {
  return unless(isNot, isIn(field, values));
}

/** @param alternatives for each value the keys, of which a feature has one */
function setCondition(
  field: string,
  { mode }: SetFilter,
  alternatives: readonly (readonly (string | number)[])[],
): string {
  const requiresAll = mode === 'all' || mode === 'not all';
  const condition = requiresAll
    ? alternatives.map((keys) => isIn(field, keys)).join(' AND ')
    : isIn(field, alternatives.flat());
  return unless(mode === 'none' || mode === 'not all', condition);
}

/** The conditions of a search that `engineFor` sends to Meilisearch. All of them hold for each hit. */
export function indexFilterOf(
  query: Pick<FeatureQuery, 'archived'> & Partial<FeatureQuery>,
  { hiddenProjects }: HiddenProjects,
  { generation, segmentIds }: { readonly generation: string; readonly segmentIds: readonly (readonly number[])[] },
): readonly string[] {
  const { archived, project, type, createdBy, stale, stages, tag, segment, status } = query;
  const filter = [`generation = ${JSON.stringify(generation)}`];
  if (archived !== undefined) filter.push(`archived = ${archived ? 1 : 0}`);
  if (hiddenProjects.length > 0) filter.push(valueCondition('project', { isNot: true, values: hiddenProjects }));
  if (project !== undefined) filter.push(valueCondition('project', project));
  if (type !== undefined) filter.push(valueCondition('type', type));
  if (createdBy !== undefined) {
    const isCreator = `${isIn('createdById', createdBy.ids)} OR ${isIn('createdBy', createdBy.names)}`;
    filter.push(unless(createdBy.isNot, `(${isCreator})`));
  }
  if (stale !== undefined) filter.push(isIn('stale', stale.map(Number)));
  if (tag !== undefined)
    filter.push(
      setCondition(
        'tagKeys',
        tag,
        tag.values.map((value) => [value]),
      ),
    );
  if (segment !== undefined) filter.push(setCondition('segmentIds', segment, segmentIds));
  if (stages !== undefined) filter.push(isIn('statuses', stages.map(statusOfStage)));
  for (const alternatives of status ?? []) filter.push(isIn('statuses', alternatives));
  return filter;
}

/** The field of the index that has the values of a property. */
export const facetFields = { type: 'type', tags: 'tagKeys', project: 'project', state: 'stale' } as const satisfies {
  readonly [F in FacetName]: string;
};

type Facets = NonNullable<FeatureSuggestions['facets']>;

/**
 * The counts of some properties, from those of the index; undefined if it does not have all of them: a value is a hash there, or there may be more
 * values than it counts.
 */
export function facetCountsOf(
  names: readonly FacetName[],
  fields: Readonly<Record<string, Readonly<Record<string, number>>>>,
  maxValues: number,
): Facets | undefined {
  const facets: Facets = {};
  for (const name of names) {
    const counts = Object.entries(fields[facetFields[name]] ?? {});
    if (counts.length >= maxValues) return undefined;
    const values = counts.flatMap(([key, count]) => {
      const value = name === 'state' ? (key === '1' ? 'stale' : 'active') : unescapedKey(key);
      return value === undefined ? [] : [{ value, count }];
    });
    if (values.length < counts.length) return undefined;
    facets[name] = values
      .toSorted(
        (one, other) => other.count - one.count || Buffer.compare(Buffer.from(one.value), Buffer.from(other.value)),
      )
      .slice(0, maxFacetValues);
  }
  return facets;
}
