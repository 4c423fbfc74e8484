import { type Static, Type } from 'typebox';
import { type Change, changeActions } from '../changes/change.ts';
import type { EventType } from './event-types.ts';
import { maxId, Nullable, TextByKey } from '../schemas.ts';
import { type AnyOperation, defineOperation } from '../operation.ts';
import type { FieldChange, Json } from '../three-way-merge.ts';
import { ArchiveFeature, ReviveFeature } from '../features/archive.ts';
import { AddDependency, RemoveDependencies } from '../features/dependencies.ts';
import { DisableFeature, EnableFeature } from '../features/environments.ts';
import { MoveFeature, SetStale, UpdateFeature } from '../features/operations.ts';
import { UpdateFeatureTags } from '../features/tags.ts';
import { SetEnvironmentVariants } from '../features/variants.ts';
import { CreateSegment, DeleteSegment, UpdateSegment } from '../strategies/segments.ts';
import { AddStrategy, DeleteStrategy, SetStrategyOrder, UpdateStrategy } from '../strategies/strategies.ts';

/** The operation that undoes an event, by the type of the event. Events of other types cannot be undone. */
export const undoOperations = {
  'feature-environment-enabled': DisableFeature,
  'feature-environment-disabled': EnableFeature,
  'feature-strategy-add': DeleteStrategy,
  'feature-strategy-remove': AddStrategy,
  'feature-strategy-update': UpdateStrategy,
  'strategy-order-changed': SetStrategyOrder,
  'feature-environment-variants-updated': SetEnvironmentVariants,
  'feature-variants-updated': SetEnvironmentVariants,
  'feature-tagged': UpdateFeatureTags,
  'feature-untagged': UpdateFeatureTags,
  'feature-metadata-updated': UpdateFeature,
  'feature-stale-on': SetStale,
  'feature-stale-off': SetStale,
  'feature-created': ArchiveFeature,
  'feature-archived': ReviveFeature,
  'feature-revived': ArchiveFeature,
  'feature-dependency-added': RemoveDependencies,
  'feature-dependency-removed': AddDependency,
  'feature-dependencies-removed': AddDependency,
  'feature-project-change': MoveFeature,
  'segment-created': DeleteSegment,
  'segment-updated': UpdateSegment,
  'segment-deleted': CreateSegment,
} satisfies Partial<Record<EventType, AnyOperation>>;
export type UndoableType = keyof typeof undoOperations;

/** Why an event cannot be undone now. */
export const undoRefusals = [
  'unsupported',
  'flagGone',
  'flagArchived',
  'flagDeleted',
  'environmentGone',
  'strategyGone',
  'strategiesDiffer',
  'noStrategy',
  'segmentGone',
  'segmentExists',
  'segmentHadList',
  'segmentListChanged',
  'dependencyChanged',
  'dependencyUnknown',
  'flagOn',
  'setAgain',
  'moved',
  'unknownBefore',
  'redacted',
] as const;
export type UndoRefusal = (typeof undoRefusals)[number];

/** A field that was changed again since the event. */
interface UndoConflict {
  readonly path: readonly string[];
  readonly left: Json | undefined;
  readonly now: Json | undefined;
}

const path = Type.Array(Type.String(), {
  description: 'the members on the way to the field; an item of a list is named by its id or name',
});
const ifMatch = Nullable(Type.String(), {
  description: 'the entity tag that the changed resource must still have; null where the operation takes no `If-Match`',
});

const UndoStep = Type.Union(
  [
    Type.Object(
      {
        kind: Type.Literal('change'),
        environment: Nullable(Type.String(), { description: 'where it is made; null: in every environment' }),
        change: Type.Unsafe<Change>(
          Type.Object(
            {
              action: Type.Enum([...changeActions], { description: 'what is done' }),
              feature: Type.Optional(Type.String({ description: 'the name of the feature; absent for a segment' })),
              payload: Type.Optional(Type.Unknown({ description: 'what the action takes' })),
            },
            { description: 'the change, as the proposal of changes takes it' },
          ),
        ),
        ifMatch,
      },
      { description: 'A change of a feature or segment, which can be made or proposed.' },
    ),
    Type.Object(
      {
        kind: Type.Literal('request'),
        operationId: Type.String({ description: 'the operation to call' }),
        params: TextByKey({ description: 'the path parameters' }),
        body: Type.Unknown({ description: 'the request body' }),
        ifMatch,
      },
      { description: 'A request of an operation that is not part of change requests.' },
    ),
  ],
  { description: 'One step of undoing an event.' },
);
export type UndoStep = Static<typeof UndoStep>;

/** What undoes an event in the current state, or why nothing does. */
export const EventUndo = Type.Object(
  {
    state: Type.Enum(['possible', 'done', 'refused', 'changed'], {
      description:
        '`possible`: by `steps`; `done`: everything is as before the event; `refused`: for `reason`; `changed`: `conflicts` were changed again since',
    }),
    steps: Type.Array(UndoStep, { description: 'what undoes it, in this order' }),
    changes: Type.Array(
      Type.Unsafe<FieldChange>(
        Type.Object({
          path,
          before: Type.Optional(Type.Unknown({ description: 'the current value; absent if it is new' })),
          after: Type.Optional(Type.Unknown({ description: 'the value after the undo; absent if it is removed' })),
        }),
      ),
      { description: 'the fields that the steps change' },
    ),
    conflicts: Type.Array(
      Type.Unsafe<UndoConflict>(
        Type.Object({
          path,
          left: Type.Optional(Type.Unknown({ description: 'the value that the event left' })),
          now: Type.Optional(Type.Unknown({ description: 'the current value' })),
        }),
      ),
      { description: 'the fields that were changed again since the event' },
    ),
    reason: Type.Optional(Type.Enum([...undoRefusals], { description: 'why it is refused' })),
  },
  { title: 'eventUndoSchema', description: 'What undoes an event in the current state, or why nothing does.' },
);
export type EventUndo = Static<typeof EventUndo>;

export const GetEventUndo = defineOperation({
  subject: 'call.features.get-event-undo',
  summary: 'Get what undoes an event',
  description:
    'Returns the changes and requests that undo the event in the current state, or why it cannot be undone. A field that was changed again since is never overwritten. It changes nothing: the steps are made by their own operations, with the permissions and approvals of these.',
  tag: 'Events',
  isBuntingExtension: true,
  http: { method: 'GET', url: '/api/admin/search/events/:id/undo' },
  permission: 'authenticated',
  params: Type.Object({ id: Type.Integer({ minimum: 1, maximum: maxId, description: 'the id of the event' }) }),
  reply: EventUndo,
});
