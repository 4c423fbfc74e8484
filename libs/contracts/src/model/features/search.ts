import { type Static, Type } from 'typebox';
import { featureMetadata } from './feature.ts';
import { SearchFeatureEnvironment } from './feature-environment.ts';
import { Lifecycle } from './lifecycle.ts';
import { AnyObject, Nullable, Timestamp } from '../schema.ts';
import { Tag } from './tag.ts';
import { UserReference } from '../access/user-reference.ts';
import { FeatureVariant } from './variant.ts';

/** A feature in the results of a search. */
export const SearchResultFeature = Type.Object(
  {
    name: Type.String({ description: 'the name, unique among all features' }),
    type: Type.String({ description: 'the type of the feature' }),
    description: featureMetadata.description,
    dependencyType: Nullable(Type.Enum(['parent', 'child'], { type: 'string' }), {
      description: '`parent` when features depend on it, `child` when it depends on one, else null',
    }),
    project: Type.String({ description: 'the id of the project that the feature belongs to' }),
    stale: featureMetadata.stale,
    favorite: Type.Boolean({ description: 'whether it is a favourite of the caller' }),
    impressionData: featureMetadata.impressionData,
    createdAt: Nullable(Timestamp('when the feature was created')),
    archivedAt: Nullable(Timestamp('when the feature was archived')),
    environments: Type.Array(SearchFeatureEnvironment, {
      description: 'the feature in each environment of its project, whatever the search filtered by',
    }),
    segments: Type.Array(Type.String(), { description: 'the names of the segments that the feature is enabled for' }),
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

/** One page of the results of a search. */
export const SearchFeaturesResponse = Type.Object(
  {
    features: Type.Array(SearchResultFeature, { description: 'the features of this page' }),
    total: Type.Optional(Type.Number({ description: 'the number of features that match, on all pages' })),
  },
  { title: 'searchFeaturesSchema', description: 'One page of search results.' },
);
export type SearchFeaturesResponse = Static<typeof SearchFeaturesResponse>;
