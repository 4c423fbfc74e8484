import type { OutboxMessage } from '@bunting/contracts';
import { type Projection, type ProjectionOptions, startProjection } from '@bunting/outbox';
import { rememberDeparted } from '../persistence/agenda.ts';

const departures: ReadonlySet<string> = new Set(['user-deleted', 'service-account-deleted']);

const idOf = (document: unknown): number[] =>
  typeof document === 'object' && document !== null && 'id' in document && typeof document.id === 'number'
    ? [document.id]
    : [];

/** The users that events say are gone. */
const departedIn = (messages: readonly OutboxMessage[]): number[] => [
  ...new Set(
    messages.flatMap(({ payload }) => {
      const { type, data, preData } = payload as { type: string; data: unknown; preData: unknown };
      return departures.has(type) ? [...idOf(preData), ...idOf(data)] : [];
    }),
  ),
];

/** Hears which users were deleted, so that nothing is applied any more on the word of somebody who is gone. */
export const followUsers = (
  options: Pick<ProjectionOptions, 'bus' | 'database' | 'intervalMs' | 'warn' | 'logError' | 'onCommitted'>,
): Promise<Projection> =>
  startProjection({
    ...options,
    consumer: 'change-requests',
    producer: 'gateway',
    topic: 'event',
    apply: async (tx, messages) => {
      const departed = departedIn(messages);
      if (departed.length > 0) await rememberDeparted(tx, departed);
    },
  });
