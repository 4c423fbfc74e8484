import { eventOfMessage } from '@bunting/contracts';
import { type Projection, type ProjectionOptions, startProjection } from '@bunting/outbox';
import { editedObjectsIn } from './consumed-events.ts';
import { markSchedulesForConflictCheck } from '../persistence/schedule-repository.ts';

/** Consumes changes of features and segments, so that conflicting schedules are suspended before their time. */
export const consumeFeatureEvents = (
  options: Pick<ProjectionOptions, 'bus' | 'database' | 'intervalMs' | 'metrics' | 'log' | 'onCommitted'>,
): Promise<Projection> =>
  startProjection({
    ...options,
    consumer: 'change-requests',
    producer: 'features',
    topic: 'event',
    apply: (tx, messages) => markSchedulesForConflictCheck(tx, editedObjectsIn(messages.map(eventOfMessage))),
  });
