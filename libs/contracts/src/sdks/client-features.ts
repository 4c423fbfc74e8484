import { type Static, Type } from 'typebox';
import { Dependency } from '../features/dependencies.ts';
import { featureSchemasFor } from '../features/feature-fields.ts';
import { FeatureVariant, StrategyVariant } from '../features/variants.ts';
import { operationsOf } from '../operation.ts';
import { Constant, writtenTagPattern } from '../schemas.ts';
import { Constraint } from '../strategies/constraints.ts';
import { BlockHash } from '../strategies/segments.ts';
import { StrategyParameters } from '../strategies/strategies.ts';

const defineOperation = operationsOf('Client');

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

export const ClientFeature = Type.Object(
  {
    name: Type.String({ description: 'the name of the feature' }),
    ...featureSchemasFor('servers'),
    type: Type.String({ description: 'the type of the feature' }),
    enabled: Type.Boolean({ description: 'whether it is on in the environment' }),
    project: Type.String({ description: 'the project that it belongs to' }),
    stale: Type.Boolean({ description: 'whether it is stale' }),
    strategies: Type.Array(ClientStrategy, {
      description: 'its strategies in the environment, without those that are disabled: one of them must match',
    }),
    variants: Type.Array(FeatureVariant, { description: 'its variants in the environment' }),
    dependencies: Type.Optional(Type.Array(Dependency, { description: 'the features that it depends on' })),
  },
  { title: 'clientFeatureSchema', description: 'A feature as an SDK evaluates it in one environment.' },
);
export type ClientFeature = Static<typeof ClientFeature>;

/** The header by which an edge says that it knows lists of segments, and its value. */
export const segmentListsHeader = 'Bunting-Segment-Lists';
export const segmentListsVersion = '1';

/** The list of a segment by reference: its ids are in the blocks that the block `root` names. */
export const ClientSegmentList = Type.Object(
  {
    contextName: Type.String({ description: 'the context field that must be one of the ids' }),
    size: Type.Integer({ minimum: 0, description: 'how many ids' }),
    root: BlockHash,
    sentToServerSdks: Type.Optional(
      Type.Boolean({
        description: 'whether server SDKs get its ids; edges do as their origin does. Absent from the version before',
      }),
    ),
  },
  {
    title: 'clientSegmentListSchema',
    description: 'The list of a segment, for clients that send `Bunting-Segment-Lists: 1`.',
  },
);
export type ClientSegmentList = Static<typeof ClientSegmentList>;

export const ClientSegment = Type.Object(
  {
    id: Type.Integer({ description: 'the id of the segment' }),
    name: Type.String({ description: 'its name' }),
    constraints: Type.Array(Constraint, { description: 'all of these must hold for the segment to match' }),
    list: Type.Optional(ClientSegmentList),
  },
  { title: 'clientSegmentSchema', description: 'A segment as an SDK evaluates it.' },
);
export type ClientSegment = Static<typeof ClientSegment>;

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
  segmentLists: Type.Optional(
    Type.String({
      maxLength: 100,
      description:
        'with `1`, a segment with a list has `list` instead of the ids, and the last one of its constraints, which matches nobody, is there for clients that do not know lists',
    }),
  ),
});
export type ClientFeaturesQuery = Static<typeof ClientFeaturesQuery>;

const eventId = Type.Integer({ minimum: 0, description: 'the revision: it grows with every change' });
function type<T extends string>(name: T, description: string) {
  return Type.Unsafe<T>({ type: 'string', enum: [name], description });
}

/** The changes for an SDK since a revision, or the complete state. */
export const ClientDelta = Type.Object(
  {
    events: Type.Array(
      Type.Union([
        Type.Object({
          type: type('hydration', 'everything that the token gives access to'),
          eventId,
          features: Type.Array(ClientFeature),
          segments: Type.Array(ClientSegment),
        }),
        Type.Object({
          type: type('feature-updated', 'a feature was created or changed'),
          eventId,
          feature: ClientFeature,
        }),
        Type.Object({
          type: type('feature-removed', 'a feature was archived or deleted, or left the project'),
          eventId,
          featureName: Type.String(),
          project: Type.String(),
        }),
        Type.Object({
          type: type('segment-updated', 'a segment was created or changed, or is used for the first time'),
          eventId,
          segment: ClientSegment,
        }),
        Type.Object({
          type: type('segment-removed', 'no feature of the token uses the segment any more'),
          eventId,
          segmentId: Type.Integer(),
        }),
      ]),
      { description: 'one `hydration`, or the changes in rising order' },
    ),
  },
  { title: 'clientFeaturesDeltaSchema', description: 'The changes for an SDK since a revision.' },
);
export type ClientDelta = Static<typeof ClientDelta>;

/** Returns the features and segments that the token gives access to, in the form that SDKs evaluate. */
export const GetClientFeatures = defineOperation({
  subject: 'call.gateway.get-client-features',
  operationId: 'getAllClientFeatures',
  summary: 'Get the features for an SDK',
  description:
    'Returns the features that an SDK evaluates: those that are not archived, in the environment and the projects of the token. Repeat the request with the ETag as `If-None-Match`: 304 until something changes.',
  http: {
    method: 'GET',
    url: '/api/client/features',
    headers: { clientSpec: 'Unleash-Client-Spec', segmentLists: segmentListsHeader },
  },
  respondsFromMemory: true,
  permission: 'CLIENT',
  query: ClientFeaturesQuery,
  reply: ClientFeatures,
  setsEntityTag: true,
  errors: ['ValidationError'],
});

const { project, environment } = ClientFeaturesQuery.properties;

export const GetClientFeature = defineOperation({
  subject: 'call.gateway.get-client-feature',
  summary: 'Get one feature for an SDK',
  description:
    'Returns a feature as an SDK evaluates it in the environment of the token. Its strategies carry the constraints of their segments themselves.',
  http: { method: 'GET', url: '/api/client/features/:featureName' },
  respondsFromMemory: true,
  permission: 'CLIENT',
  query: Type.Object({ project, environment }),
  reply: ClientFeature,
  errors: ['ValidationError', 'NotFoundError'],
});

export const GetClientDelta = defineOperation({
  subject: 'call.gateway.get-client-delta',
  operationId: 'getDelta',
  summary: 'Get the changes for an SDK',
  description:
    'Returns the changes since the revision in `If-None-Match`, or everything as one `hydration` without it. The ETag is the revision; it is valid on every gateway and after restarts. 304 if nothing changed that the token can read.',
  http: { method: 'GET', url: '/api/client/delta', headers: { segmentLists: segmentListsHeader } },
  respondsFromMemory: true,
  permission: 'CLIENT',
  query: ClientFeaturesQuery,
  reply: ClientDelta,
  setsEntityTag: true,
  errors: ['ValidationError'],
});

export const StreamClientFeatures = defineOperation({
  subject: 'call.gateway.stream-client-features',
  summary: 'Stream the changes to an SDK',
  description:
    'Server-sent events. The first, `unleash-connected`, has everything, or with the id of an earlier event in `Last-Event-ID` only what is newer; each `unleash-updated` has what has changed since. The data is that of the delta. An id is a revision: it is valid on every gateway and after restarts. The stream ends when the token is revoked or expires, or the environment is deleted.',
  http: {
    method: 'GET',
    url: '/api/client/streaming',
    eventStream: true,
    headers: { lastEventId: 'Last-Event-ID', segmentLists: segmentListsHeader },
  },
  respondsFromMemory: true,
  permission: 'CLIENT',
  query: Type.Object({
    ...ClientFeaturesQuery.properties,
    lastEventId: Type.Optional(
      Type.String({
        maxLength: 100,
        description: 'the id of the last event that the SDK has; anything but a number counts as none',
      }),
    ),
  }),
  reply: Type.String({ description: 'server-sent events' }),
  errors: ['ValidationError', 'RateLimitError'],
});
