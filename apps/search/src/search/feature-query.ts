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
  type CreatorFilter,
  type DayFilter,
  parseDayFilter,
  parseCreators,
  parseDescription,
  parseFuzzyTexts,
  type SetFilter,
  parseBoolean,
  parseFavorite,
  parseSegments,
  parseState,
  isStatus,
  parseTags,
  parseTexts,
} from '../domain/parse-feature-filters.ts';

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
  /** case-folded texts, of which the description must contain one */
  readonly description: readonly string[] | undefined;
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

/** The sort key; undefined for an unknown one, which is ignored as Unleash does: an order finds the same features. */
const parseSortBy = ({ text }: Parameter): Sort['by'] | undefined => {
  const environment = text.startsWith(environmentPrefix) ? text.slice(environmentPrefix.length) : '';
  return environment === '' ? sortKeys.find((key) => key === text) : { environment };
};

const parseStatuses = (texts: readonly string[] | undefined): readonly string[] | undefined => {
  if (texts === undefined) return undefined;
  if (texts.length === 0 || texts.length > maxValues)
    throw invalidParameter({ name: 'status', text: `${texts.length} of them` }, `be given 1 to ${maxValues} times`);
  const statuses = texts.map((text) => checkedParameter('status', text));
  const valid = statuses.filter(isStatus).map(({ text }) => text);
  const [first] = statuses;
  if (valid.length === 0 && first !== undefined)
    throw invalidParameter(first, 'be written `<environment>:enabled` or `<environment>:disabled`');
  return [...new Set(valid)];
};

/**
 * Parses the parameters, each in one pass without backtracking. A filter that cannot be parsed is refused: it is never ignored, and never
 * finds more than it says. What only orders the features is ignored where it is unknown.
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
    description: read('description', parseDescription),
    archived: read('archived', parseBoolean) ?? false,
    project: read('project', parseValueFilter),
    type: read('type', parseValueFilter),
    createdBy: read('createdBy', parseCreators),
    stale: read('state', parseState),
    tag: read('tag', parseTags),
    segment: read('segment', parseSegments),
    status: parseStatuses(status),
    created: read('createdAt', parseDayFilter),
    lastSeen: read('lastSeenAt', parseDayFilter),
    favorite: read('favorite', parseFavorite),
    sort: by === undefined && fuzzy && texts.length > 0 ? 'relevance' : { by: by ?? 'createdAt', descending },
    favoritesFirst: read('favoritesFirst', ({ text }) => text === 'true' || text === 'IS:true') ?? false,
    ...parsePage(query),
  };
};
