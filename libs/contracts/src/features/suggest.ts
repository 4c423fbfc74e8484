import { type Static, Type } from 'typebox';
import { defineOperation } from '../operation.ts';
import { Count } from '../schemas.ts';

/** The properties whose values suggestions count. */
export const facetNames = ['type', 'tags', 'project', 'state'] as const;
export type FacetName = (typeof facetNames)[number];

/** The parts of a name that match a query. */
export const MatchedParts = Type.Array(
  Type.Object({
    start: Type.Integer({ description: 'the number of characters before the part' }),
    end: Type.Integer({ description: 'the number of characters up to its end' }),
  }),
  {
    description:
      'the parts of the name that match the query, in their order and without overlaps; none where only tags match',
  },
);
export type MatchedParts = Static<typeof MatchedParts>;

/** Whether a feature contains what was typed, rather than something like it. */
export const isExact = Type.Boolean({
  description: 'whether its name or tags contain each word of the query as it is typed; else some are only similar',
});

export const FeatureSuggestion = Type.Object(
  {
    name: Type.String({ description: 'the name of the feature' }),
    project: Type.String({ description: 'the id of its project' }),
    type: Type.String({ description: 'the type of the feature' }),
    stale: Type.Boolean({ description: 'whether it is marked as stale' }),
    startsWithQuery: Type.Boolean({ description: 'whether its name begins with the query, in upper or lower case' }),
    isExact,
    matches: MatchedParts,
  },
  { title: 'featureSuggestionSchema', description: 'A feature that may be meant by a query.' },
);
export type FeatureSuggestion = Static<typeof FeatureSuggestion>;

const FacetCounts = Type.Array(
  Type.Object({
    value: Type.String({ description: 'a value; of `tags` as `<type>:<value>`, of `state` `active` or `stale`' }),
    count: Count('the number of features that have it, of all that the query finds'),
  }),
  { description: 'the most frequent values first, at most 100' },
);

export const FeatureSuggestions = Type.Object(
  {
    suggestions: Type.Array(FeatureSuggestion, {
      description:
        'the features whose name begins with the query, by name; then those that are like it, the likeliest first',
    }),
    facets: Type.Optional(
      Type.Object(
        {
          type: Type.Optional(FacetCounts),
          tags: Type.Optional(FacetCounts),
          project: Type.Optional(FacetCounts),
          state: Type.Optional(FacetCounts),
        },
        { description: 'the values of the requested properties; present if any were requested' },
      ),
    ),
  },
  { title: 'featureSuggestionsSchema', description: 'The features that may be meant by a query.' },
);
export type FeatureSuggestions = Static<typeof FeatureSuggestions>;

export const SuggestFeatures = defineOperation({
  subject: 'call.search.suggest-features',
  summary: 'Suggest features while someone types',
  description:
    'Returns the features that may be meant by what was typed so far: words in any order, however the name separates them, with typing errors. Archived features are left out.',
  tag: 'Search',
  isBuntingExtension: true,
  http: { method: 'GET', url: '/api/admin/search/suggest' },
  permission: 'authenticated',
  query: Type.Object({
    query: Type.Optional(
      Type.String({
        description:
          'what was typed so far, at most 100 characters; the first ten words count. Without it, all features match',
      }),
    ),
    limit: Type.Optional(
      Type.String({
        description: 'the number of suggestions, 1 to 50; default: 8',
        documentedDefault: '8',
        documentedPattern: '^0{0,9}([1-9]|[1-4][0-9]|50)$',
      }),
    ),
    project: Type.Optional(
      Type.String({ description: 'the id of the project whose features are suggested; default: all' }),
    ),
    facets: Type.Optional(
      Type.String({
        description: `of which properties the values are counted, with commas between them: ${facetNames.map((name) => `\`${name}\``).join(', ')}; default: none`,
        documentedPattern: `^(${facetNames.join('|')})(,(${facetNames.join('|')}))*$`,
      }),
    ),
  }),
  reply: FeatureSuggestions,
  errors: ['ValidationError'],
});
