import type { RequestOf, SearchFeatures } from '@bunting/contracts';
import {
  checkedParameter,
  invalidParameter,
  maxValues,
  type Parameter,
  parameterParser,
  parseKeyword,
  parsePage,
} from '@bunting/contracts/validation';
import {
  type ValueFilter,
  parseValueFilter,
  parseArchived,
  type CreatorFilter,
  type DayFilter,
  parseDayFilter,
  parseCreators,
  parseFuzzyTexts,
  type SetFilter,
  parseBoolean,
  parseSegments,
  parseState,
  parseStatus,
  parseTags,
  parseTexts,
} from './parse-feature-filters.ts';

const sortKeys = ['createdAt', 'name', 'type', 'project', 'stale', 'lastSeenAt'] as const;
type SortKey = (typeof sortKeys)[number];

/** The sort keys of a search. Ties are ordered by creation, and then by name. */
export interface Sort {
  readonly by: SortKey | { readonly environment: string };
  readonly descending: boolean;
}

/** The parsed parameters of a feature search. All filters that are present must match. */
export interface FeatureQuery {
  /** case-folded texts, of which the name or a tag must contain one; empty if every feature matches */
  readonly texts: readonly string[];
  /** whether names and tags that are only similar to a text match too */
  readonly fuzzy: boolean;
  readonly archived: boolean;
  readonly project: ValueFilter | undefined;
  readonly type: ValueFilter | undefined;
  readonly createdBy: CreatorFilter | undefined;
  /** the accepted values of `stale` */
  readonly stale: readonly boolean[] | undefined;
  readonly tag: SetFilter | undefined;
  readonly segment: SetFilter | undefined;
  /** the accepted statuses, each written `<environment>:enabled` or `<environment>:disabled` */
  readonly status: readonly string[] | undefined;
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

const environmentPrefix = 'environment:';

const parseSortBy = (parameter: Parameter): Sort['by'] => {
  const { text } = parameter;
  const environment = text.startsWith(environmentPrefix) ? text.slice(environmentPrefix.length) : '';
  if (environment !== '') return { environment };
  const by = sortKeys.find((key) => key === text);
  if (by === undefined) throw invalidParameter(parameter, `be one of ${sortKeys.join(', ')}, environment:<name>`);
  return by;
};

const parseStatuses = (texts: readonly string[] | undefined): readonly string[] | undefined => {
  if (texts === undefined) return undefined;
  if (texts.length === 0 || texts.length > maxValues)
    throw invalidParameter({ name: 'status', text: `${texts.length} of them` }, `be given 1 to ${maxValues} times`);
  return [...new Set(texts.map((text) => parseStatus(checkedParameter('status', text))))];
};

/**
 * Parses the parameters, each in one pass without backtracking. A filter that cannot be parsed is refused: it is never ignored, and never
 * finds more than it says.
 * @throws Refusal `ValidationError` that names the parameter.
 */
export const parseFeatureQuery = ({ status, ...query }: SearchParameters): FeatureQuery => {
  const read = parameterParser(query);
  const fuzzy = read('fuzzy', parseBoolean) ?? false;
  const texts = read('query', fuzzy ? parseFuzzyTexts : parseTexts) ?? [];
  const by = read('sortBy', parseSortBy);
  const descending = read('sortOrder', (parameter) => parseKeyword(parameter, ['asc', 'desc'])) === 'desc';
  return {
    texts,
    fuzzy,
    archived: read('archived', parseArchived) ?? false,
    project: read('project', parseValueFilter),
    type: read('type', parseValueFilter),
    createdBy: read('createdBy', parseCreators),
    stale: read('state', parseState),
    tag: read('tag', parseTags),
    segment: read('segment', parseSegments),
    status: parseStatuses(status),
    created: read('createdAt', parseDayFilter),
    lastSeen: read('lastSeenAt', parseDayFilter),
    favorite: read('favorite', parseBoolean),
    sort: by === undefined && fuzzy && texts.length > 0 ? 'relevance' : { by: by ?? 'createdAt', descending },
    favoritesFirst: read('favoritesFirst', parseBoolean) ?? false,
    ...parsePage(query),
  };
};
