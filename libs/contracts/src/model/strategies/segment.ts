import { type Static, Type } from 'typebox';
import { notBlank } from '../text-schemas.ts';
import { Constraint } from './constraint.ts';
import { ConstraintBody } from './constraint-body.ts';
import { maxId, Nullable, Timestamp } from '../schema.ts';

/** The id of a segment, within the range of the column in the database. */
export const SegmentId = Type.Integer({ minimum: 0, maximum: maxId, description: 'the id of the segment' });

/** The name of a segment. It is indexed, so its length is limited. */
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

/** A named, reusable set of constraints. */
export const Segment = Type.Object(
  {
    id: Type.Integer({ description: 'the id of the segment' }),
    name: Type.String({ description: 'the name, unique among all segments' }),
    description: Type.Optional(description),
    project: Type.Optional(project),
    constraints,
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

/** The properties of a new segment. */
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
export type StrategySegmentsBody = Static<typeof StrategySegmentsBody>;

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
  },
  { title: 'segmentStrategiesSchema', description: 'The usage of a segment.' },
);
export type SegmentUsage = Static<typeof SegmentUsage>;
