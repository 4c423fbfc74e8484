import {
  AddDependency,
  AddStrategy,
  type AnyOperation,
  ArchiveFeature,
  CreateSegment,
  DeleteSegment,
  DeleteStrategy,
  DisableFeature,
  EnableFeature,
  type Event,
  type EventType,
  MoveFeature,
  RemoveDependencies,
  ReviveFeature,
  SetEnvironmentVariants,
  SetStale,
  SetStrategyOrder,
  UpdateFeature,
  UpdateFeatureTags,
  UpdateSegment,
  UpdateStrategy,
} from '@bunting/contracts';

const operations = {
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

/** The types of the events that can be undone. */
export type UndoableType = keyof typeof operations;

/** The operation that undoes an event; undefined where events of its type cannot be undone. */
export const undoOperationOf = ({ type }: Pick<Event, 'type'>): AnyOperation | undefined =>
  (operations as Partial<Record<EventType, AnyOperation>>)[type];
