import { type Facet, facetsOf, type StoredDocument } from './facets.ts';
import { type Facets, type FilterContext, readFilter, RefusedQuery } from './filter.ts';
import { type Fit, fitOf } from './ranking.ts';

export type Settings = Readonly<Record<string, unknown>>;

/** What an index is set to when nothing was said. */
export const defaultSettings: Settings = {
  displayedAttributes: ['*'],
  searchableAttributes: ['*'],
  filterableAttributes: [],
  sortableAttributes: [],
  rankingRules: ['words', 'typo', 'proximity', 'attributeRank', 'sort', 'wordPosition', 'exactness'],
  stopWords: [],
  synonyms: {},
  distinctAttribute: null,
  typoTolerance: { enabled: true, minWordSizeForTypos: { oneTypo: 5, twoTypos: 9 } },
  facetSearch: true,
  prefixSearch: 'indexingTime',
  pagination: { maxTotalHits: 1000 },
  searchCutoffMs: null,
};

export interface StoredIndex {
  readonly primaryKey: string | null;
  readonly settings: Settings;
  readonly documents: ReadonlyMap<string, StoredDocument>;
  /** every field that a document ever had */
  readonly known: ReadonlySet<string>;
}

export const emptyIndex = (primaryKey: string | null): StoredIndex => ({
  primaryKey,
  settings: defaultSettings,
  documents: new Map(),
  known: new Set(),
});

const cache = new WeakMap<StoredDocument, Facets>();
const facets = (document: StoredDocument): Facets => {
  const known = cache.get(document) ?? facetsOf(document);
  cache.set(document, known);
  return known;
};

const acceptableId = /^[A-Za-z0-9_-]{1,511}$/;

/** A document that fails the whole payload it is in. */
export class RefusedDocument extends Error {}

/** The index with documents added, or put in the place of those with the same id. */
export const withDocuments = (index: StoredIndex, added: readonly StoredDocument[], key: string): StoredIndex => {
  const documents = new Map(index.documents);
  const known = new Set(index.known);
  for (const document of added) {
    const id = document[index.primaryKey ?? key];
    if (typeof id !== 'string' || !acceptableId.test(id)) throw new RefusedDocument('invalid_document_id');
    documents.set(id, document);
    for (const field of facets(document).keys()) known.add(field);
  }
  return { ...index, primaryKey: index.primaryKey ?? key, documents, known };
};

export const withoutDocuments = (index: StoredIndex, ids: readonly string[]): StoredIndex => {
  const documents = new Map(index.documents);
  for (const id of ids) documents.delete(id);
  return { ...index, documents };
};

const fits = (pattern: string, field: string): boolean => {
  const inner = pattern.replace(/^\*|\*$/g, '');
  if (pattern.startsWith('*') && pattern.endsWith('*')) return field.includes(inner);
  if (pattern.startsWith('*')) return field.endsWith(inner);
  return pattern.endsWith('*') ? field.startsWith(inner) : field === pattern || field.startsWith(`${pattern}.`);
};

interface Rule {
  readonly attributePatterns: readonly string[];
  readonly features?: { readonly filter?: { readonly equality?: boolean; readonly comparison?: boolean } };
}

const contextOf = ({ settings, known }: StoredIndex): FilterContext => ({
  isKnown: (field) => known.has(field),
  allows: (field, comparison) =>
    (settings['filterableAttributes'] as (string | Rule)[]).some((rule) => {
      if (typeof rule === 'string') return fits(rule, field);
      const filter = { equality: true, comparison: false, ...rule.features?.filter };
      return rule.attributePatterns.some((pattern) => fits(pattern, field)) && (!comparison || filter.comparison);
    }),
});

type Compare = (one: StoredDocument, other: StoredDocument) => number;

const compareTexts = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

/** Numbers before strings, whatever the direction; of several values the first of that direction. */
const keyIn = (facet: Facet | undefined, descending: boolean): number | string | undefined => {
  if (facet === undefined) return undefined;
  if (facet.numbers.length > 0) return descending ? Math.max(...facet.numbers) : Math.min(...facet.numbers);
  const strings = facet.strings.length < 2 ? facet.strings : facet.strings.toSorted(compareTexts);
  return descending ? strings.at(-1) : strings[0];
};

const compareBy = (index: StoredIndex, rule: string): Compare => {
  const colon = rule.lastIndexOf(':');
  const [field, direction] = [rule.slice(0, colon), rule.slice(colon + 1)];
  if (direction !== 'asc' && direction !== 'desc') throw new RefusedQuery(`Invalid syntax for sort: \`${rule}\`.`);
  const sortable = index.settings['sortableAttributes'] as string[];
  if (!sortable.some((pattern) => fits(pattern, field)))
    throw new RefusedQuery(`Attribute \`${field}\` is not sortable.`);
  const descending = direction === 'desc';
  const keys = new Map<StoredDocument, number | string | undefined>();
  const keyOf = (document: StoredDocument): number | string | undefined => {
    if (!keys.has(document)) keys.set(document, keyIn(facets(document).get(field), descending));
    return keys.get(document);
  };
  return (one, other) => {
    const [a, b] = [keyOf(one), keyOf(other)];
    // What is missing comes last in both directions.
    if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
    if (typeof a !== typeof b) return typeof a === 'number' ? -1 : 1;
    const order = typeof a === 'number' ? a - (b as number) : compareTexts(a, b as string);
    return descending ? -order : order;
  };
};

/** Scatters documents that nothing tells apart, so that who relies on their order is found out. */
const scattered = (id: string): number => {
  let hash = 7;
  for (const character of id) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 65_521;
  return -hash;
};

const strings = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);

export interface Asked {
  readonly q?: unknown;
  readonly filter?: unknown;
  readonly sort?: unknown;
}

/** The documents that fit, in their order. */
export const documentsFound = (index: StoredIndex, { q, filter, sort }: Asked): readonly StoredDocument[] => {
  const holds = readFilter(filter, contextOf(index));
  const { searchableAttributes, rankingRules } = index.settings;
  const asked = typeof q === 'string' ? q : '';
  const fit = new Map<StoredDocument, Fit>();
  for (const document of index.documents.values()) {
    if (!holds(facets(document))) continue;
    const found = asked.trim() === '' ? { words: 0, typos: 0 } : fitOf(asked, document, strings(searchableAttributes));
    if (found !== undefined) fit.set(document, found);
  }
  const wanted = strings(sort).map((rule) => compareBy(index, rule));
  if (wanted.length > 0 && !strings(rankingRules).includes('sort'))
    throw new RefusedQuery('The sort ranking rule must be specified in the ranking rules settings to use sort.');
  const order = strings(rankingRules).flatMap((rule): Compare[] => {
    if (rule === 'sort') return wanted;
    if (rule === 'words') return [(one, other) => (fit.get(other)?.words ?? 0) - (fit.get(one)?.words ?? 0)];
    if (rule === 'typo') return [(one, other) => (fit.get(one)?.typos ?? 0) - (fit.get(other)?.typos ?? 0)];
    return rule.includes(':') ? [compareBy(index, rule)] : [];
  });
  const key = index.primaryKey ?? 'id';
  const number = (document: StoredDocument): number => scattered(String(document[key]));
  return [...fit.keys()].toSorted((one, other) => {
    for (const compare of order) {
      const result = compare(one, other);
      if (result !== 0) return result;
    }
    return number(one) - number(other);
  });
};
