import { type Static, Type } from 'typebox';
import { UserReference } from '../access/account.ts';
import { operationsOf } from '../operation.ts';
import {
  AnyObject,
  Count,
  documentedDayFilter,
  documentedListFilter,
  documentedStageFilter,
  documentedStateFilter,
  documentedTagFilter,
  limitPattern,
  Nullable,
  Timestamp,
} from '../schemas.ts';
import { featureSchemasFor } from './feature-fields.ts';
import { SearchFeatureEnvironment } from './feature.ts';
import { Lifecycle } from './lifecycle.ts';
import { isExact, MatchedParts } from './suggest.ts';
import { Tag } from './tags.ts';
import { FeatureVariant } from './variants.ts';

const defineOperation = operationsOf('Search');

export const SearchResultFeature = Type.Object(
  {
    name: Type.String({ description: 'the name, unique among all features' }),
    ...featureSchemasFor('search'),
    type: Type.String({ description: 'the type of the feature' }),
    dependencyType: Nullable(Type.Enum(['parent', 'child'], { type: 'string' }), {
      description: '`parent` when features depend on it, `child` when it depends on one, else null',
    }),
    project: Type.String({ description: 'the id of the project that the feature belongs to' }),
    favorite: Type.Boolean({ description: 'whether it is a favourite of the caller' }),
    createdAt: Nullable(Timestamp('when the feature was created')),
    archivedAt: Nullable(Timestamp('when the feature was archived')),
    environments: Type.Array(SearchFeatureEnvironment, {
      description: 'the feature in each environment of its project, whatever the search filtered by',
    }),
    segments: Type.Array(Type.String(), { description: 'the names of the segments that the feature is enabled for' }),
    segmentIds: Type.Optional(
      Type.Array(Type.Integer(), { description: 'the ids of these segments, in the same order' }),
    ),
    createdBy: UserReference,
    lastSeenAt: Type.Optional(
      Nullable(Timestamp('when metrics were last collected'), {
        deprecated: true,
        description: 'deprecated; use `lastSeenAt` of the environment',
      }),
    ),
    variants: Type.Optional(
      Type.Array(FeatureVariant, { deprecated: true, description: 'deprecated; use the variants of strategies' }),
    ),
    strategies: Type.Optional(
      Type.Array(AnyObject(), { deprecated: true, description: 'deprecated, of an earlier format' }),
    ),
    tags: Type.Optional(Nullable(Type.Array(Tag), { description: 'the tags of the feature' })),
    lifecycle: Type.Optional(Lifecycle),
  },
  { title: 'featureSearchResponseSchema', description: 'A feature in the results of a search.' },
);
export type SearchResultFeature = Static<typeof SearchResultFeature>;

export const SearchFeaturesResponse = Type.Object(
  {
    features: Type.Array(SearchResultFeature, { description: 'the features of this page' }),
    total: Type.Optional(Type.Number({ description: 'the number of features that match, on all pages' })),
    matches: Type.Optional(
      Type.Array(
        Type.Object({ isExact, parts: MatchedParts }, { description: 'how a feature matches a fuzzy query' }),
        { description: 'of a fuzzy query: how each feature of the page matches it, in their order' },
      ),
    ),
  },
  { title: 'searchFeaturesSchema', description: 'One page of search results.' },
);
export type SearchFeaturesResponse = Static<typeof SearchFeaturesResponse>;

export const ProjectFlagCreators = Type.Array(
  Type.Object({
    id: Type.Integer({ description: 'the id of the user' }),
    name: Type.String({ description: 'the name of the user' }),
  }),
  { title: 'projectFlagCreatorsSchema', description: 'The creators of the features of a project.' },
);

export const FlagCreatorPage = Type.Object(
  {
    flagCreators: Type.Array(
      Type.Object({
        id: Type.Integer({ description: 'the id of the user' }),
        name: Type.String({ description: 'the name of the user' }),
      }),
      { description: 'the people of this page, by name' },
    ),
    total: Count('the number on all pages'),
  },
  { title: 'flagCreatorsSchema', description: 'One page of the users who created features.' },
);

// The patterns are for the OpenAPI document only. Matching them can take exponential time, so the search service parses each parameter in
// code, in one pass.
const valuesPattern = String.raw`^(IS|IS_NOT|IS_ANY_OF|IS_NONE_OF):(.*?)(,([a-zA-Z0-9_]+))*$`;
const tagsPattern = String.raw`^(INCLUDE|DO_NOT_INCLUDE|INCLUDE_ALL_OF|INCLUDE_ANY_OF|EXCLUDE_IF_ANY_OF|EXCLUDE_ALL):([^:,]+:.+?)(,\s*[^:,]+:.+?)*$`;
const segmentsPattern = String.raw`^(INCLUDE|DO_NOT_INCLUDE|INCLUDE_ALL_OF|INCLUDE_ANY_OF|EXCLUDE_IF_ANY_OF|EXCLUDE_ALL):(.*?)(,([a-zA-Z0-9_]+))*$`;
const dayPattern = String.raw`^(IS_BEFORE|IS_ON_OR_AFTER):\d{4}-\d{2}-\d{2}$`;

function text(description: string, documented: Record<string, unknown> = {}) {
  return Type.Optional(Type.String({ description, ...documented }));
}

export const SearchFeatures = defineOperation({
  subject: 'call.search.search-features',
  summary: 'Search and filter features',
  description: 'Returns the features that match every one of the criteria, page by page.',
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
    lifecycle: text(
      'filters by the stage of the lifecycle, which is `initial`, `pre-live`, `live`, `completed` or `archived`, in the same form as `project`; without `archived`, `IS` or `IS_ANY_OF` with the stage `archived` finds archived features as well',
      { documentedPattern: valuesPattern, documentedAllOf: [documentedStageFilter] },
    ),
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
          'filters by `<environment name>:<status>`, where the status is `enabled` or `disabled`, or says for whom the feature is on there: `all` for everybody, `partial` for some users, `none` for nobody; repeated, features that match any of them. Others beside a valid one are ignored',
      }),
    ),
    everyEnvironment: text(
      '`true` (or `IS:true`): a feature must match a `status` of every environment that one names, and none is ignored; default: false',
      { documentedDefault: 'false', documentedPattern: '^(IS:)?(true|false)$' },
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
      'the property to sort by: `name`, `type`, `project`, `stale`, `createdAt`, `lastSeenAt`, `environment:<name>`, or `reach:<name>`, which sorts by for whom the feature is on in the environment; anything else sorts by createdAt, which is the default',
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
    timeZone: text('the time zone of the days of `createdAt` and `lastSeenAt`, such as `Europe/Oslo`', {
      documentedDefault: 'UTC',
    }),
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

export const Reindex = Type.Object(
  {
    state: Type.Enum(['none', 'running', 'done', 'failed'], {
      type: 'string',
      description: 'the state of the rebuild; `none` before the first one',
    }),
    done: Type.Integer({ description: 'the number of features and segments written' }),
    all: Type.Integer({ description: 'the number of features and segments to write' }),
    startedAt: Nullable(Timestamp('when it was begun')),
    finishedAt: Nullable(Timestamp('when it came to its end')),
    reason: Nullable(Type.String(), { description: 'the reason of the failure' }),
  },
  { title: 'reindexSchema', description: 'The progress of a rebuild of the search index.' },
);
export type Reindex = Static<typeof Reindex>;

export const StartReindex = defineOperation({
  subject: 'call.search.start-reindex',
  summary: 'Rebuild the search index',
  description: 'Starts a rebuild of the search index from the current features. Searches continue meanwhile.',
  isBuntingExtension: true,
  http: { method: 'POST', url: '/api/admin/search/reindex', status: 202, anyContentType: true },
  permission: 'ADMIN',
  reply: Reindex,
});

export const GetReindexStatus = defineOperation({
  subject: 'call.search.get-reindex-status',
  operationId: 'getReindex',
  summary: 'Get the progress of the last reindex',
  description: 'Returns the progress of a rebuild of the search index.',
  isBuntingExtension: true,
  http: { method: 'GET', url: '/api/admin/search/reindex' },
  permission: 'ADMIN',
  reply: Reindex,
});

export const ListFlagCreatorsOfProject = defineOperation({
  subject: 'call.features.list-flag-creators-of-project',
  operationId: 'getProjectFlagCreators',
  summary: 'List the creators of the features of a project',
  description: 'Returns the people who created features of the project.',
  tag: 'Projects',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/flag-creators' },
  isHeavy: true,
  permission: 'authenticated',
  reply: ProjectFlagCreators,
});

export const SearchFlagCreators = defineOperation({
  subject: 'call.features.search-flag-creators',
  operationId: 'getFlagCreators',
  summary: 'Search the creators of features',
  description: 'Returns the users who created features in projects that the caller sees, by name, page by page.',
  tag: 'Users',
  http: { method: 'GET', url: '/api/admin/flag-creators' },
  isHeavy: true,
  permission: 'authenticated',
  query: Type.Object({
    q: Type.Optional(Type.String({ maxLength: 255, description: 'a part of the name; case-insensitive' })),
    offset: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 1_000_000, description: 'the number to skip; default: 0' }),
    ),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1_000, description: 'the number on a page; default: 50' }),
    ),
  }),
  reply: FlagCreatorPage,
  errors: ['ValidationError'],
});
