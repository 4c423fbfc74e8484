import { type Static, Type } from 'typebox';
import { operationsOf } from '../operation.ts';
import { SegmentPath } from '../paths.ts';
import { maxId, notBlank, Nullable, Timestamp, ValidateSegmentNameBody } from '../schemas.ts';
import { Constraint, ConstraintBody } from './constraints.ts';

const defineOperation = operationsOf('Segments');

// Not in `segment-lists.ts`: pages that show segments would load all of that.
export const listContextName = Type.String({
  minLength: 1,
  maxLength: 255,
  description: 'the field that must be one of the ids',
});

/** The hash of a block of a list. */
export const BlockHash = Type.String({
  minLength: 64,
  maxLength: 64,
  documentedPattern: '^[0-9a-f]{64}$',
  description: 'SHA-256 of what the block says',
});

export const SegmentList = Type.Object(
  {
    contextName: listContextName,
    size: Type.Integer({ minimum: 0, description: 'how many ids' }),
    version: Type.Integer({ minimum: 1, description: 'grows with each change of the list' }),
  },
  {
    title: 'segmentListSchema',
    description: 'Users must have one of its ids.',
  },
);
export type SegmentList = Static<typeof SegmentList>;

/** A list that is stored beside that of a segment until a change request puts it in its place, or the removal of the list. */
export const StagedSegmentList = Type.Object({
  contextName: Nullable(listContextName, {
    description: 'the field that must be one of the ids; null where the list is removed',
  }),
  root: Nullable(BlockHash, {
    description:
      'a hash of all of its ids; null where the list is removed: the segment then matches everybody who satisfies its constraints',
  }),
  size: Type.Integer({ minimum: 0, description: 'how many ids it has' }),
  added: Type.Integer({ minimum: 0, description: 'the ids that the list that it replaces does not have' }),
  removed: Type.Integer({ minimum: 0, description: 'the ids of the list that it replaces that it does not have' }),
  replaced: Nullable(SegmentList, { description: 'the list that it replaces; null for none' }),
});
export type StagedSegmentList = Static<typeof StagedSegmentList>;

/** The id of a segment, within the range of the column in the database. */
export const SegmentId = Type.Integer({ minimum: 0, maximum: maxId, description: 'the id of the segment' });

/** It is indexed, so its length is limited. */
export const SegmentName = Type.String({
  minLength: 1,
  maxLength: 255,
  ...notBlank,
  description: 'the name, unique among all segments',
});

const description = Nullable(Type.String(), { description: 'the description of the segment' });
const project = Nullable(Type.String(), {
  description: 'the one project that may use the segment; null or absent: every project',
});
const constraints = Type.Array(Constraint, { description: 'all of these must hold for the segment to match' });

export const Segment = Type.Object(
  {
    id: Type.Integer({ description: 'the id of the segment' }),
    name: Type.String({ description: 'the name, unique among all segments' }),
    description: Type.Optional(description),
    project: Type.Optional(project),
    constraints,
    list: Type.Optional(SegmentList),
    createdBy: Type.Optional(Nullable(Type.String(), { description: 'the creator of the segment' })),
    createdAt: Type.Optional(Timestamp('when the segment was created')),
    usedInProjects: Type.Optional(
      Nullable(Type.Integer(), { description: 'the number of projects that use it; in lists only' }),
    ),
    usedInFeatures: Type.Optional(
      Nullable(Type.Integer(), { description: 'the number of features that use it; in lists only' }),
    ),
  },
  { title: 'segmentSchema', description: 'A named, reusable set of constraints.' },
);
export type Segment = Static<typeof Segment>;

export const Segments = Type.Object(
  { segments: Type.Array(Segment, { description: 'the segments, by name' }) },
  { title: 'segmentsSchema', description: 'The segments.' },
);
export type Segments = Static<typeof Segments>;

/** A constraint with its first values alone: all of them can be megabytes. */
const ShortConstraint = Type.Object(
  {
    ...Constraint.properties,
    valueCount: Type.Optional(Type.Integer({ description: 'how many values it has; `values` are the first ones' })),
  },
  { title: 'shortConstraintSchema', description: 'A constraint with its first values.' },
);

/** What lists and other objects show of segments: without most values of their constraints, which can be megabytes. */
export const SegmentSummaries = Type.Object(
  {
    segments: Type.Array(
      Type.Object({
        id: Type.Integer({ description: 'the id of the segment' }),
        name: Type.String({ description: 'the name, unique among all segments' }),
        description: Type.Optional(description),
        project: Type.Optional(project),
        contextNames: Type.Array(Type.String(), {
          description: 'the context fields that its constraints and its list compare',
        }),
        constraints: Type.Array(ShortConstraint, {
          description: 'all of these must hold for the segment to match; each with its first values',
        }),
        list: Type.Optional(SegmentList),
        createdAt: Type.Optional(Timestamp('when the segment was created')),
        usedInFeatures: Type.Integer({ description: 'the number of features that use it' }),
      }),
      { description: 'the segments, by name' },
    ),
  },
  { title: 'segmentSummariesSchema', description: 'The segments with the first values of their constraints.' },
);

export const CreateSegmentBody = Type.Object(
  {
    name: SegmentName,
    description: Type.Optional(description),
    project: Type.Optional(project),
    constraints: Type.Array(ConstraintBody, { description: 'all of these must hold for the segment to match' }),
  },
  { title: 'upsertSegmentSchema', description: 'The properties of a new segment.' },
);
export type CreateSegmentBody = Static<typeof CreateSegmentBody>;

const segmentIds = Type.Array(SegmentId, { maxItems: 100, description: 'the ids of the segments' });

export const StrategySegmentsBody = Type.Object(
  {
    projectId: Type.String({ description: 'the project of the feature' }),
    strategyId: Type.String({ description: 'the id of the strategy' }),
    environmentId: Type.String({ description: 'the environment of the strategy' }),
    segmentIds,
  },
  { title: 'updateFeatureStrategySegmentsSchema', description: 'The segments that a strategy is to use.' },
);

/** The strategies that use a segment, and those that would use it after change requests that are not closed. */
export const SegmentUsage = Type.Object(
  {
    strategies: Type.Array(
      Type.Object({
        id: Type.String({ description: 'the id of the strategy' }),
        projectId: Type.String({ description: 'the project of its feature' }),
        featureName: Type.String({ description: 'its feature' }),
        strategyName: Type.String({ description: 'its type' }),
        environment: Type.String({ description: 'its environment' }),
      }),
      { description: 'the strategies that use the segment' },
    ),
    changeRequestStrategies: Type.Array(
      Type.Object({
        id: Type.Optional(Type.String({ description: 'the id of the strategy, when it is there already' })),
        projectId: Type.String({ description: 'the project of its feature' }),
        featureName: Type.String({ description: 'its feature' }),
        strategyName: Type.String({ description: 'its type' }),
        environment: Type.String({ description: 'its environment' }),
        changeRequest: Type.Object(
          {
            id: Nullable(Type.Integer(), { description: 'its id; null for the draft of another user' }),
            title: Nullable(Type.String(), { description: 'its title, if it has one' }),
          },
          { description: 'the change request' },
        ),
      }),
      { description: 'the strategies that would use the segment if change requests that are not closed were applied' },
    ),
    needsChangeRequest: Type.Optional(
      Type.Boolean({
        description:
          'whether the caller may edit the segment only by a change request, since it belongs to a project with protected environments or is used in some; a segment of every project that several projects with protected environments use has none',
      }),
    ),
  },
  { title: 'segmentStrategiesSchema', description: 'The usage of a segment.' },
);
export type SegmentUsage = Static<typeof SegmentUsage>;

/** Emits `segment-created`. */
export const CreateSegment = defineOperation({
  subject: 'call.features.create-segment',
  summary: 'Create a segment',
  description: 'Creates a segment for every project, or for one.',
  http: {
    method: 'POST',
    url: '/api/admin/segments',
    status: 201,
    location: (_request: unknown, reply: { id: number }) => `segments/${reply.id}`,
  },
  permission: ['CREATE_SEGMENT', 'UPDATE_PROJECT_SEGMENT'],
  body: CreateSegmentBody,
  reply: Segment,
  errors: ['ValidationError', 'ExceedsLimitError', 'NotFoundError', 'NameExistsError'],
});

/** Emits `segment-deleted`. */
export const DeleteSegment = defineOperation({
  subject: 'call.features.delete-segment',
  operationId: 'removeSegment',
  summary: 'Delete a segment',
  description: 'Removes a segment that no strategy of an active feature uses.',
  http: { method: 'DELETE', url: '/api/admin/segments/:id', status: 204, anyContentType: true },
  ifMatch: 'segment',
  permission: ['DELETE_SEGMENT', 'UPDATE_PROJECT_SEGMENT'],
  params: SegmentPath,
  errors: ['NotFoundError', 'ConflictError'],
});

export const GetSegment = defineOperation({
  subject: 'call.features.get-segment',
  summary: 'Get a segment',
  description: 'Returns one segment.',
  http: { method: 'GET', url: '/api/admin/segments/:id' },
  permission: 'authenticated',
  params: Type.Object({ id: SegmentId }),
  reply: Segment,
  errors: ['ValidationError', 'NotFoundError'],
});

export const ListSegmentsOfStrategy = defineOperation({
  subject: 'call.features.list-segments-of-strategy',
  operationId: 'getSegmentsByStrategyId',
  summary: 'List the segments of a strategy',
  description: 'Returns the segments that a strategy uses.',
  http: { method: 'GET', url: '/api/admin/segments/strategies/:strategyId' },
  permission: 'authenticated',
  reply: Segments,
});

export const ListSegments = defineOperation({
  subject: 'call.features.list-segments',
  operationId: 'getSegments',
  summary: 'List the segments',
  description: 'Returns the segments, ordered by name.',
  http: { method: 'GET', url: '/api/admin/segments' },
  permission: 'authenticated',
  reply: Segments,
});

export const ListSegmentSummaries = defineOperation({
  subject: 'call.features.list-segment-summaries',
  summary: 'List the segments with the first values of their constraints',
  description:
    'Returns the segments, ordered by name, which context fields they compare, and the first values of each constraint.',
  isBuntingExtension: true,
  http: { method: 'GET', url: '/api/admin/segments/summaries' },
  permission: 'authenticated',
  reply: SegmentSummaries,
});

export const ListStrategiesOfSegment = defineOperation({
  subject: 'call.features.list-strategies-of-segment',
  operationId: 'getStrategiesBySegmentId',
  summary: 'List the strategies that use a segment',
  description: 'Returns the strategies that use a segment.',
  http: { method: 'GET', url: '/api/admin/segments/:id/strategies' },
  isHeavy: true,
  permission: 'authenticated',
  params: SegmentPath,
  reply: SegmentUsage,
});

/** Emits `feature-strategy-update`. */
export const SetStrategySegments = defineOperation({
  subject: 'call.features.set-strategy-segments',
  operationId: 'updateFeatureStrategySegments',
  summary: 'Set the segments of a strategy',
  description: 'Replaces the segments that a strategy uses.',
  http: { method: 'POST', url: '/api/admin/segments/strategies', status: 201 },
  permission: 'UPDATE_FEATURE_STRATEGY',
  body: StrategySegmentsBody,
  reply: StrategySegmentsBody,
  errors: ['ValidationError', 'NotFoundError'],
});

/** Emits `segment-updated`. */
export const UpdateSegment = defineOperation({
  subject: 'call.features.update-segment',
  summary: 'Update a segment',
  description: 'Replaces the name, the description, the project and the constraints of a segment.',
  http: { method: 'PUT', url: '/api/admin/segments/:id', status: 204 },
  ifMatch: 'segment',
  permission: ['UPDATE_SEGMENT', 'UPDATE_PROJECT_SEGMENT'],
  params: SegmentPath,
  body: CreateSegmentBody,
  errors: ['ValidationError', 'NotFoundError', 'NameExistsError', 'ExceedsLimitError'],
});

export const ValidateSegmentName = defineOperation({
  subject: 'call.features.validate-segment-name',
  operationId: 'validateSegment',
  summary: 'Validate the name of a segment',
  description: 'Validates the name of a new segment. Nothing is stored.',
  http: { method: 'POST', url: '/api/admin/segments/validate', status: 204 },
  permission: 'authenticated',
  readsOnly: true,
  body: ValidateSegmentNameBody,
  errors: ['ValidationError', 'NameExistsError'],
});
