import { type Static, Type } from 'typebox';
import { Nullable, Timestamp } from '../../model/schema.ts';
import { defineOperation } from '../../operation.ts';

const count = (description: string) => Type.Integer({ minimum: 0, description });

/** The number of events in the log, and its size on disk. */
export const EventLogSize = Type.Object(
  {
    events: count('the number of events'),
    firstId: Nullable(count('the id of the oldest event'), { description: 'the id of the oldest event' }),
    lastId: Nullable(count('the id of the newest event'), { description: 'the id of the newest event' }),
    oldest: Nullable(Timestamp('when the oldest event happened'), { description: 'when the oldest event happened' }),
    newest: Nullable(Timestamp('when the newest event happened'), { description: 'when the newest event happened' }),
    retentionDays: Nullable(count('the retention of events in days'), {
      description: 'the retention of events in days; null: unlimited',
    }),
    bytes: Type.Object({
      log: count('bytes of the events themselves'),
      search: count('bytes of their indexes'),
      total: count('bytes of the database'),
    }),
    partitions: Type.Array(Type.Object({ name: Type.String(), bytes: count('bytes of its events') }), {
      description: 'the partitions of the log',
    }),
  },
  { title: 'eventLogSizeSchema', description: 'The number of events in the event log, and its size on disk.' },
);
export type EventLogSize = Static<typeof EventLogSize>;

/** Returns the number of events in the log, and its size on disk. */
export const GetEventLogSize = defineOperation({
  subject: 'call.audit.get-event-log-size',
  operationId: 'getEventLogSize',
  summary: 'Get the size of the event log',
  tag: 'Events',
  isBuntingExtension: true,
  http: { method: 'GET', url: '/api/admin/events/size' },
  permission: 'ADMIN',
  reply: EventLogSize,
});
