import type { RequestOf, SearchFeatures } from '@bunting/contracts';
import { benchFlag } from './generated-flags.ts';
import {
  personCount,
  personOf,
  projectOf,
  projectCount,
  segmentOf,
  segmentCount,
  spreadOver,
  ticketOf,
} from './generated-search-states.ts';

export type SearchQuery = RequestOf<typeof SearchFeatures>['query'];

/** One kind of search. */
export interface SearchKind {
  readonly name: string;
  /** the nth search of this kind; with different values than the others, if there are several for this number of features */
  readonly request: (nth: number, features: number) => SearchQuery;
}

const teams = ['platform', 'mobile', 'growth', 'core', 'payments', 'data'];
const words = [
  'checkout',
  'billing',
  'signup',
  'upload',
  'invoice',
  'shipping',
  'redesign',
  'retry',
  'cache',
  'banner',
];
const misspeltWords = [
  'chekcout',
  'biling',
  'singup',
  'uplaod',
  'invioce',
  'shiping',
  'redsign',
  'rerty',
  'cahce',
  'baner',
];
const types = ['release', 'experiment', 'operational', 'kill-switch', 'permission'];

function pick(list: readonly string[], nth: number): string {
  return list[nth % list.length] as string;
}
function team(nth: number): string {
  return `simple:team-${pick(teams, nth)}`;
}
function quarter(nth: number): string {
  return `simple:quarter-${1 + (nth % 8)}`;
}
/** The number of a feature, spread over all features. */
function featureIndex(nth: number, features: number): number {
  return spreadOver(nth * 101, features);
}
function day(nth: number): string {
  return new Date(Date.UTC(2023, 1, 1) + (nth % 1_000) * 86_400_000).toISOString().slice(0, 10);
}

const filters: readonly SearchKind[] = [
  { name: 'no filter', request: () => ({}) },
  { name: 'project IS', request: (nth) => ({ project: `IS:${projectOf(nth)}` }) },
  { name: 'project IS_NOT', request: (nth) => ({ project: `IS_NOT:${projectOf(nth)}` }) },
  {
    name: 'project IS_ANY_OF three',
    request: (nth) => ({ project: `IS_ANY_OF:${projectOf(nth)},${projectOf(nth + 7)},${projectOf(nth + 19)}` }),
  },
  {
    name: 'project IS_NONE_OF three',
    request: (nth) => ({ project: `IS_NONE_OF:${projectOf(nth)},${projectOf(nth + 7)},${projectOf(nth + 19)}` }),
  },
  { name: 'state IS active', request: () => ({ state: 'IS:active' }) },
  { name: 'state IS stale', request: () => ({ state: 'IS:stale' }) },
  { name: 'type IS', request: (nth) => ({ type: `IS:${pick(types, nth)}` }) },
  {
    name: 'type IS_NONE_OF two',
    request: (nth) => ({ type: `IS_NONE_OF:${pick(types, nth)},${pick(types, nth + 1)}` }),
  },
  { name: 'createdBy IS an id', request: (nth) => ({ createdBy: `IS:${1 + (nth % personCount)}` }) },
  { name: 'createdBy IS a name', request: (nth) => ({ createdBy: `IS:${personOf(nth)}` }) },
  { name: 'createdBy IS_NOT', request: (nth) => ({ createdBy: `IS_NOT:${1 + (nth % personCount)}` }) },
  {
    name: 'tag INCLUDE, a rare one',
    request: (nth, features) => ({ tag: `INCLUDE:ticket:${ticketOf(featureIndex(nth, features))}` }),
  },
  { name: 'tag INCLUDE, a common one', request: (nth) => ({ tag: `INCLUDE:${team(nth)}` }) },
  { name: 'tag INCLUDE_ALL_OF', request: (nth) => ({ tag: `INCLUDE_ALL_OF:${team(2 * nth)},${quarter(2 * nth)}` }) },
  { name: 'tag INCLUDE_ANY_OF', request: (nth) => ({ tag: `INCLUDE_ANY_OF:${team(nth)},${quarter(nth)}` }) },
  { name: 'tag DO_NOT_INCLUDE', request: (nth) => ({ tag: `DO_NOT_INCLUDE:${team(nth)}` }) },
  { name: 'tag EXCLUDE_IF_ANY_OF', request: (nth) => ({ tag: `EXCLUDE_IF_ANY_OF:${team(nth)},${quarter(nth)}` }) },
  { name: 'tag EXCLUDE_ALL', request: (nth) => ({ tag: `EXCLUDE_ALL:${team(2 * nth)},${quarter(2 * nth)}` }) },
  { name: 'segment INCLUDE', request: (nth) => ({ segment: `INCLUDE:${segmentOf(1 + (nth % (segmentCount - 1)))}` }) },
  { name: 'segment INCLUDE, a common one', request: () => ({ segment: `INCLUDE:${segmentOf(0)}` }) },
  {
    name: 'segment INCLUDE_ALL_OF',
    request: (nth) => ({ segment: `INCLUDE_ALL_OF:${segmentOf(0)},${segmentOf(nth)}` }),
  },
  { name: 'segment DO_NOT_INCLUDE', request: (nth) => ({ segment: `DO_NOT_INCLUDE:${segmentOf(nth)}` }) },
  { name: 'status, one', request: (nth) => ({ status: [nth % 2 === 0 ? 'production:enabled' : 'staging:disabled'] }) },
  { name: 'status, two', request: () => ({ status: ['production:enabled', 'development:disabled'] }) },
  { name: 'createdAt IS_BEFORE', request: (nth) => ({ createdAt: `IS_BEFORE:${day(nth * 37)}` }) },
  { name: 'createdAt IS_ON_OR_AFTER', request: (nth) => ({ createdAt: `IS_ON_OR_AFTER:${day(nth * 37)}` }) },
  { name: 'archived', request: () => ({ archived: 'true' }) },
  {
    name: 'only some projects are visible, no filter',
    request: (nth) => ({
      project: `IS_ANY_OF:${Array.from({ length: projectCount / 2 }, (_, factor) => projectOf(nth + factor))}`,
    }),
  },
];

const textSearches: readonly SearchKind[] = [
  {
    name: 'text: a flag',
    request: (nth, features) => ({ query: benchFlag(featureIndex(nth, features)).name }),
  },
  {
    name: 'text: a ticket, which is a tag',
    request: (nth, features) => ({ query: ticketOf(featureIndex(nth, features)).toLowerCase() }),
  },
  { name: 'text: absent', request: (nth) => ({ query: `nowhere-${nth}` }) },
  { name: 'text: common', request: (nth) => ({ query: pick(words, nth) }) },
  {
    name: 'text: common, two words',
    request: (nth) => ({ query: `${pick(words, nth % 6)}-${pick(words, 6 + (nth % 4))}` }),
  },
  { name: 'description: common', request: (nth) => ({ description: `CONTAINS:${pick(words, nth)}` }) },
  { name: 'text: two letters', request: (nth) => ({ query: pick(words, nth).slice(0, 2) }) },
  {
    name: 'text: three with commas',
    request: (nth) => ({ query: [1, 2, 3].map((factor) => pick(words, nth * factor)).join(',') }),
  },
  {
    name: 'text, common, in a project',
    request: (nth) => ({ query: pick(words, nth), project: `IS:${projectOf(nth)}` }),
  },
  {
    name: 'fuzzy: a common word, misspelt',
    request: (nth) => ({ query: pick(misspeltWords, nth), fuzzy: 'true' }),
  },
  {
    name: 'fuzzy: a flag, misspelt',
    request: (nth, features) => ({
      query: benchFlag(featureIndex(nth, features)).name.replace('e', ''),
      fuzzy: 'true',
    }),
  },
  { name: 'fuzzy: absent', request: (nth) => ({ query: `xyzzyq${nth % 10}w`, fuzzy: 'true' }) },
];

const combinations: readonly SearchKind[] = [
  {
    name: 'five: project, type, state, tag, status',
    request: (nth) => ({
      project: `IS:${projectOf(nth)}`,
      type: `IS_NOT:${pick(types, nth)}`,
      state: 'IS:active',
      tag: `INCLUDE:${team(nth)}`,
      status: ['production:enabled'],
    }),
  },
  {
    name: 'five: text, segment, tag, createdAt, status',
    request: (nth) => ({
      query: pick(words, nth),
      segment: `DO_NOT_INCLUDE:${segmentOf(0)}`,
      tag: `EXCLUDE_IF_ANY_OF:${quarter(nth)}`,
      createdAt: `IS_ON_OR_AFTER:${day(nth * 37)}`,
      status: ['development:enabled', 'staging:enabled'],
    }),
  },
  {
    name: 'five that few fit, favourites first, by name',
    request: (nth, features) => ({
      query: ticketOf(featureIndex(nth, features)),
      state: 'IS:active',
      status: ['production:enabled', 'production:disabled'],
      type: `IS_NOT:${pick(types, nth)}`,
      createdAt: 'IS_ON_OR_AFTER:2023-01-01',
      favoritesFirst: 'true',
      sortBy: 'name',
    }),
  },
];

const orders = ['createdAt', 'name', 'type', 'project', 'stale', 'lastSeenAt', 'environment:production'].flatMap(
  (sortBy): SearchKind[] =>
    (['asc', 'desc'] as const).map((sortOrder) => ({
      name: `sort by ${sortBy} ${sortOrder}`,
      request: () => ({ sortBy, sortOrder }),
    })),
);

/** Every filter of the API by itself, text of all kinds, combinations of filters, and every sort order. */
export const searchKinds: readonly SearchKind[] = [
  ...filters,
  ...textSearches,
  ...combinations,
  ...orders,
  { name: 'favourites first', request: () => ({ favoritesFirst: 'true' }) },
];

/** Searches whose first page is compared with the page after nine tenths of the results. */
export const pagedSearches: readonly { readonly name: string; readonly request: SearchQuery }[] = [
  { name: 'createdAt', request: {} },
  { name: 'name desc', request: { sortBy: 'name', sortOrder: 'desc' } },
  { name: 'lastSeenAt', request: { sortBy: 'lastSeenAt' } },
  { name: 'environment:production', request: { sortBy: 'environment:production' } },
  { name: 'favourites first', request: { favoritesFirst: 'true' } },
  { name: 'a filter that nearly all fit', request: { tag: `DO_NOT_INCLUDE:ticket:${ticketOf(1)}` } },
];
