import type { OutboxMessage } from '@bunting/contracts';
import { type Projection, type ProjectionOptions, startProjection } from '@bunting/outbox';
import { idsIn } from './ids-in-event.ts';
import { addDeletedUsers, removeDeletedUsers } from '../persistence/deleted-users.ts';

const deletionTypes: ReadonlySet<string> = new Set(['user-deleted', 'service-account-deleted']);

/** The ids of users that events report as deleted. */
const deletedUsersIn = (messages: readonly OutboxMessage[]): number[] => [
  ...new Set(
    messages.flatMap(({ payload }) => {
      const event = payload as { readonly type: string; readonly data: unknown; readonly preData: unknown };
      return deletionTypes.has(event.type) ? idsIn(event) : [];
    }),
  ),
];

/** Consumes deletions of users, so that no change is applied on behalf of a deleted user. */
export const consumeUserEvents = (
  options: Pick<ProjectionOptions, 'bus' | 'database' | 'intervalMs' | 'metrics' | 'log' | 'onCommitted'>,
): Promise<Projection> =>
  startProjection({
    ...options,
    consumer: 'change-requests',
    producer: 'gateway',
    topic: 'event',
    onProducerRestored: removeDeletedUsers,
    apply: async (tx, messages) => {
      const deleted = deletedUsersIn(messages);
      if (deleted.length > 0) await addDeletedUsers(tx, deleted);
    },
  });
