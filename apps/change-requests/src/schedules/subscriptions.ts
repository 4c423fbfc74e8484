import { eventOfMessage } from '@bunting/contracts';
import { type Projection, type ProjectionOptions, startProjection } from '@bunting/outbox';
import { deletedProjectsIn, deletedUserIdsIn, editedObjectsIn } from './consumed-events.ts';
import {
  addDeletedUsersAndEraseNames,
  clearDeletedUsers,
  markSchedulesForConflictCheck,
  removeRequestsOfDeletedProjects,
} from './schedule-store.ts';

/**
 * Consumes changes of features and segments, so that conflicting schedules are suspended before their time, and deletions of projects, whose
 * requests go with them.
 */
export function consumeFeatureEvents(
  options: Pick<ProjectionOptions, 'bus' | 'database' | 'intervalMs' | 'metrics' | 'log' | 'onCommitted'>,
): Promise<Projection> {
  return startProjection({
    ...options,
    consumer: 'change-requests',
    producer: 'features',
    topic: 'event',
    apply: async (tx, messages) => {
      await removeRequestsOfDeletedProjects(tx, deletedProjectsIn(messages));
      await markSchedulesForConflictCheck(tx, editedObjectsIn(messages.map(eventOfMessage)));
    },
  });
}

/** Consumes deletions of users, so that no change is applied on behalf of a deleted user. */
export function consumeUserEvents(
  options: Pick<ProjectionOptions, 'bus' | 'database' | 'intervalMs' | 'metrics' | 'log' | 'onCommitted'>,
): Promise<Projection> {
  return startProjection({
    ...options,
    consumer: 'change-requests',
    producer: 'gateway',
    topic: 'event',
    onProducerRestored: clearDeletedUsers,
    apply: async (tx, messages) => {
      const deleted = deletedUserIdsIn(messages.map(eventOfMessage));
      if (deleted.length > 0) await addDeletedUsersAndEraseNames(tx, deleted);
    },
  });
}
