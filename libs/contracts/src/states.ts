import { type Static, Type } from 'typebox';
import { featureSchemasFor } from './features/feature-fields.ts';
import { ReachRule } from './features/reach.ts';
import { defineOperation } from './operation.ts';
import { Nullable } from './schemas.ts';

/** The snapshot of a feature that search indexes. It refers to objects by id where their names may change. */
export const FeatureState = Type.Object({
  name: Type.String(),
  project: Type.String(),
  ...featureSchemasFor('search'),
  createdAt: Type.String({ format: 'date-time' }),
  archivedAt: Nullable(Type.String({ format: 'date-time' })),
  lastSeenAt: Nullable(Type.String({ format: 'date-time' })),
  createdBy: Type.Object({ id: Type.Integer(), name: Type.String(), imageUrl: Type.String() }),
  dependencyType: Nullable(Type.Enum(['parent', 'child'])),
  tags: Type.Array(Type.Object({ type: Type.String(), value: Type.String() })),
  segments: Type.Array(Type.Integer(), { description: 'ids of the segments on any of its strategies, each once' }),
  favoritedBy: Type.Array(Type.Integer(), { description: 'ids of the users who have it as a favourite' }),
  lifecycle: Type.Optional(
    Type.Object({
      stage: Type.String(),
      status: Type.Optional(Nullable(Type.String())),
      enteredStageAt: Type.String({ format: 'date-time' }),
    }),
  ),
  environments: Type.Array(
    Type.Object({
      name: Type.String(),
      type: Type.String(),
      enabled: Type.Boolean(),
      sortOrder: Type.Integer(),
      variantCount: Type.Integer(),
      lastSeenAt: Nullable(Type.String({ format: 'date-time' })),
      hasStrategies: Type.Boolean(),
      hasEnabledStrategies: Type.Boolean(),
      yes: Type.Integer(),
      no: Type.Integer(),
      rules: Type.Optional(Type.Array(ReachRule, { description: 'its strategies that are not disabled' })),
    }),
  ),
});
export type FeatureState = Static<typeof FeatureState>;

export const SegmentState = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  project: Nullable(Type.String()),
});
export type SegmentState = Static<typeof SegmentState>;

/** The properties of a project that decide who may see it. */
export const ProjectState = Type.Object({
  id: Type.String(),
  mode: Type.Enum(['open', 'protected', 'private']),
  createdBy: Nullable(Type.Integer({ description: 'the id of the user who created it' })),
});
export type ProjectState = Static<typeof ProjectState>;

/** Of environments only the deletion is published: a state that is null. */
export const EnvironmentState = Type.Null();

/** The schema of the snapshots of each entity type, which producers publish in the topic `state`. */
export const stateSchemas = {
  feature: FeatureState,
  segment: SegmentState,
  project: ProjectState,
  environment: EnvironmentState,
} as const;
export type StateEntity = keyof typeof stateSchemas;

/** The entity types whose snapshots other services can read by call. */
export const ReadableStateEntity = Type.Enum(['feature', 'segment']);
export type ReadableStateEntity = Static<typeof ReadableStateEntity>;

/** The payload of a state message. `state` is null after the entity is deleted; a lower version never replaces a higher one. */
export interface StateOf<E extends StateEntity> {
  readonly entity: E;
  readonly id: string;
  readonly version: number;
  readonly state: Static<(typeof stateSchemas)[E]> | null;
  /** the last mode of a deleted project: the history of a private one stays hidden */
  readonly lastMode?: ProjectState['mode'];
}

export const ListStateVersions = defineOperation({
  subject: 'call.features.list-state-versions',
  summary: 'List the versions of the current states of features or segments, for projections to compare',
  idempotent: true,
  body: Type.Object({
    entity: ReadableStateEntity,
    after: Type.String({ description: 'the id that the page begins after' }),
    limit: Type.Integer({ minimum: 1, maximum: 10_000 }),
  }),
  reply: Type.Object({
    versions: Type.Array(Type.Object({ id: Type.String(), version: Type.Integer() }), {
      description: 'in the order of the bytes of their ids',
    }),
  }),
});

export const ReadStates = defineOperation({
  subject: 'call.features.read-states',
  summary: 'List the current states of features or segments, for projections to compare',
  idempotent: true,
  body: Type.Object({
    entity: ReadableStateEntity,
    after: Type.String({ description: 'the id that the page begins after' }),
    limit: Type.Integer({ minimum: 1, maximum: 500 }),
  }),
  reply: Type.Object({
    states: Type.Array(
      Type.Object({
        id: Type.String(),
        version: Type.Integer(),
        state: Type.Unknown({ description: 'the payload of the state message' }),
      }),
      { description: 'in the order of the bytes of their ids' },
    ),
  }),
});
