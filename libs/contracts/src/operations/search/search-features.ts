import { Type } from 'typebox';
import {
  documentedDayFilter,
  limitPattern,
  documentedListFilter,
  documentedStateFilter,
  documentedTagFilter,
} from '../../model/documented-patterns.ts';
import { SearchFeaturesResponse } from '../../model/features/search.ts';
import { defineOperation } from '../../operation.ts';

// The patterns are for the OpenAPI document only. Matching them can take exponential time, so the search service parses each parameter in
// code, in one pass.
const valuesPattern = String.raw`^(IS|IS_NOT|IS_ANY_OF|IS_NONE_OF):(.*?)(,([a-zA-Z0-9_]+))*$`;
const tagsPattern = String.raw`^(INCLUDE|DO_NOT_INCLUDE|INCLUDE_ALL_OF|INCLUDE_ANY_OF|EXCLUDE_IF_ANY_OF|EXCLUDE_ALL):([^:,]+:.+?)(,\s*[^:,]+:.+?)*$`;
const segmentsPattern = String.raw`^(INCLUDE|DO_NOT_INCLUDE|INCLUDE_ALL_OF|INCLUDE_ANY_OF|EXCLUDE_IF_ANY_OF|EXCLUDE_ALL):(.*?)(,([a-zA-Z0-9_]+))*$`;
const dayPattern = String.raw`^(IS_BEFORE|IS_ON_OR_AFTER):\d{4}-\d{2}-\d{2}$`;

const text = (description: string, documented: Record<string, unknown> = {}) =>
  Type.Optional(Type.String({ description, ...documented }));

/** Searches and filters features, page by page. */
export const SearchFeatures = defineOperation({
  subject: 'call.search.search-features',
  operationId: 'searchFeatures',
  summary: 'Search and filter features',
  description: 'Returns the features that match every one of the criteria, page by page.',
  tag: 'Search',
  http: { method: 'GET', url: '/api/admin/search/features' },
  permission: 'authenticated',
  query: Type.Object({
    query: text('text to find in the name or in a tag of the feature'),
    description: text(
      'filters by texts in the description, of which it contains at least one: `CONTAINS`, a colon, and the texts with commas between them; upper and lower case do not matter',
      { documentedPattern: '^CONTAINS:(.+)$', documentedAllOf: [documentedListFilter] },
    ),
    project: text('filters by project id: an operator, a colon, and values with commas between them', {
      documentedPattern: valuesPattern,
      documentedAllOf: [documentedListFilter],
    }),
    state: text('filters by state, which is `active` or `stale`, in the same form as `project`', {
      documentedPattern: valuesPattern,
      documentedAllOf: [documentedStateFilter],
    }),
    type: text('filters by the type of the feature, in the same form as `project`', {
      documentedPattern: valuesPattern,
      documentedAllOf: [documentedListFilter],
    }),
    createdBy: text(
      'filters by the user who created the feature, in the same form as `project`: digits are an id, anything else is a name',
      { documentedPattern: valuesPattern, documentedAllOf: [documentedListFilter] },
    ),
    tag: text('filters by tags, each written `<type>:<value>`', {
      documentedPattern: tagsPattern,
      documentedAllOf: [documentedTagFilter],
    }),
    segment: text('filters by names of segments', {
      documentedPattern: segmentsPattern,
      documentedAllOf: [documentedListFilter],
    }),
    status: Type.Optional(
      Type.Array(Type.String(), {
        documentedMinItems: 1,
        documentedMaxItems: 200,
        description:
          'filters by `<environment name>:<status>`, where the status is `enabled` or `disabled`; repeated, features that match any of them. Others beside a valid one are ignored',
      }),
    ),
    offset: text('the number of features to skip; default: 0', {
      documentedDefault: '0',
      documentedPattern: '^[0-9]+$',
    }),
    limit: text('the number of features on a page, 1 to 1000; default: 50', {
      documentedDefault: '50',
      documentedPattern: limitPattern,
    }),
    sortBy: text(
      'the property to sort by: `name`, `type`, `project`, `stale`, `createdAt`, `lastSeenAt` or `environment:<name>`; anything else sorts by createdAt, which is the default',
      { documentedDefault: 'createdAt' },
    ),
    sortOrder: text('`asc` or `desc`; default: asc', { documentedEnum: ['asc', 'desc'], documentedDefault: 'asc' }),
    favoritesFirst: text("`true` (or `IS:true`): the caller's favourites come first; default: false", {
      documentedDefault: 'false',
    }),
    archived: text(
      '`true` (or `IS:true`) finds only archived features, `false` (or `IS:false`) only active ones; default: false',
      { documentedDefault: 'false', documentedPattern: '^(IS:)?(true|false)$' },
    ),
    createdAt: text('filters by the day of creation: an operator, a colon, and a date', {
      documentedPattern: dayPattern,
      documentedAllOf: [documentedDayFilter],
    }),
    lastSeenAt: text(
      'filters by the day when metrics were last collected, in the same form as `createdAt`; leaves out features without metrics',
      { documentedPattern: dayPattern, documentedAllOf: [documentedDayFilter] },
    ),
    favorite: text(
      "`true` (or `IS:true`) finds only the caller's favourites, `false` (or `IS:false`) only other features",
      {
        documentedPattern: '^((IS:)?(true|false)|IS_ANY_OF:(true|false)(,(true|false))*)$',
      },
    ),
    fuzzy: text(
      '`true` forgives typing errors in `query`, which may then hold 5 texts of 100 characters; default: false',
      { documentedDefault: 'false', documentedPattern: '^(IS:)?(true|false)$' },
    ),
  }),
  reply: SearchFeaturesResponse,
  errors: ['ValidationError'],
});
