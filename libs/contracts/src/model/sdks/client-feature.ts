import { type Static, Type } from 'typebox';
import { writtenTagPattern } from '../documented-patterns.ts';
import { Constraint } from '../strategies/constraint.ts';
import { Dependency, featureMetadata } from '../features/feature.ts';
import { Constant } from '../schema.ts';
import { StrategyParameters } from '../strategies/strategy.ts';
import { FeatureVariant, StrategyVariant } from '../features/variant.ts';

/** An activation rule as an SDK evaluates it. */
export const ClientStrategy = Type.Object(
  {
    name: Type.String({ description: 'the type of the strategy' }),
    constraints: Type.Array(Constraint, { description: 'all of these must hold for the strategy to match' }),
    parameters: StrategyParameters,
    variants: Type.Array(StrategyVariant, { description: 'the variants among which matching users are divided' }),
    segments: Type.Optional(
      Type.Array(Type.Integer(), {
        description: 'the ids of the segments that must match as well, for SDKs that know segments',
      }),
    ),
  },
  { title: 'clientStrategySchema', description: 'An activation rule as an SDK evaluates it.' },
);
export type ClientStrategy = Static<typeof ClientStrategy>;

/** A feature as an SDK evaluates it in one environment. */
export const ClientFeature = Type.Object(
  {
    name: Type.String({ description: 'the name of the feature' }),
    type: Type.String({ description: 'the type of the feature' }),
    enabled: Type.Boolean({ description: 'whether it is on in the environment' }),
    project: Type.String({ description: 'the project that it belongs to' }),
    stale: Type.Boolean({ description: 'whether it is stale' }),
    description: featureMetadata.description,
    impressionData: featureMetadata.impressionData,
    strategies: Type.Array(ClientStrategy, {
      description: 'its strategies in the environment, without those that are disabled: one of them must match',
    }),
    variants: Type.Array(FeatureVariant, { description: 'its variants in the environment' }),
    dependencies: Type.Optional(Type.Array(Dependency, { description: 'the features that it depends on' })),
  },
  { title: 'clientFeatureSchema', description: 'A feature as an SDK evaluates it in one environment.' },
);
export type ClientFeature = Static<typeof ClientFeature>;

/** A segment as an SDK evaluates it. */
export const ClientSegment = Type.Object(
  {
    id: Type.Integer({ description: 'the id of the segment' }),
    name: Type.String({ description: 'its name' }),
    constraints: Type.Array(Constraint, { description: 'all of these must hold for the segment to match' }),
  },
  { title: 'clientSegmentSchema', description: 'A segment as an SDK evaluates it.' },
);
export type ClientSegment = Static<typeof ClientSegment>;

/** The features and segments that an SDK evaluates. */
export const ClientFeatures = Type.Object(
  {
    version: Constant(2, 'the version of this format'),
    features: Type.Array(ClientFeature, { description: 'the features that are not archived, by name' }),
    segments: Type.Optional(
      Type.Array(ClientSegment, { description: 'the segments that are used, for SDKs that know segments' }),
    ),
    query: Type.Object(
      {
        environment: Type.String({ description: 'the environment' }),
        inlineSegmentConstraints: Type.Boolean({
          description: 'whether strategies carry the constraints of their segments themselves',
        }),
        project: Type.Optional(Type.Array(Type.String(), { description: 'the projects; every one without it' })),
        namePrefix: Type.Optional(Type.String({ description: 'the prefix of the names' })),
        tag: Type.Optional(
          Type.Array(Type.Array(Type.String()), {
            description: 'tags as type and value: each feature has one of them',
          }),
        ),
      },
      { description: 'the query as it was applied: the limits of the token override what was requested' },
    ),
    meta: Type.Object(
      {
        revisionId: Type.Integer({
          description: 'the position of the last change that is included; it never decreases',
        }),
        etag: Type.String({ description: 'the ETag' }),
        queryHash: Type.String({ description: 'the hash of the query: equal queries have equal hashes' }),
      },
      { description: 'the revision and the query of the response' },
    ),
  },
  { title: 'clientFeaturesSchema', description: 'The features and segments that an SDK evaluates.' },
);
export type ClientFeatures = Static<typeof ClientFeatures>;

/** The filters of an SDK, applied within the scope of its token. */
export const ClientFeaturesQuery = Type.Object({
  project: Type.Optional(
    Type.Array(Type.String({ maxLength: 100, description: 'the id of a project' }), {
      maxItems: 100,
      description: 'only features of these projects; ignored if the token is bound to projects',
    }),
  ),
  environment: Type.Optional(
    Type.String({
      maxLength: 100,
      description:
        'the environment, unless the token is for one; without it, or with `default` where no environment is called that: the first enabled environment',
    }),
  ),
  namePrefix: Type.Optional(
    Type.String({
      maxLength: 100,
      description: 'only features whose name begins with this; case-sensitive',
    }),
  ),
  tag: Type.Optional(
    Type.Array(
      Type.String({ maxLength: 101, documentedPattern: writtenTagPattern, description: 'a tag: `<type>:<value>`' }),
      {
        maxItems: 50,
        description: 'only features with this tag; repeated, features with any of them',
      },
    ),
  ),
  clientSpec: Type.Optional(
    Type.String({
      maxLength: 100,
      description:
        'the version of the client specification that the SDK keeps to; from 4.2.0 on segments come beside the features',
    }),
  ),
});
export type ClientFeaturesQuery = Static<typeof ClientFeaturesQuery>;
