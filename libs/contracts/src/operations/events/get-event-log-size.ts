import { type Static, Type } from 'typebox';
import { Nullable, Timestamp } from '../../model/schema.ts';
import { defineOperation } from '../../operation.ts';

const count = (description: string) => Type.Integer({ minimum: 0, description });

/** How much the event log holds, and how much room it takes. */
export const EventLogSize = Type.Object(
  {
    events: count('how many events there are'),
    firstId: Nullable(count('the id of the oldest event'), { description: 'the id of the oldest event' }),
    lastId: Nullable(count('the id of the newest event'), { description: 'the id of the newest event' }),
    oldest: Nullable(Timestamp('when the oldest event happened'), { description: 'when the oldest event happened' }),
    newest: Nullable(Timestamp('when the newest event happened'), { description: 'when the newest event happened' }),
    retentionDays: Nullable(count('for how many days events are kept'), {
      description: 'for how many days events are kept; null when they are kept for ever',
    }),
    bytes: Type.Object({
      log: count('bytes of the events themselves'),
      search: count('bytes of what they are found by'),
      total: count('bytes of the database'),
    }),
    partitions: Type.Array(Type.Object({ name: Type.String(), bytes: count('bytes of its events') }), {
      description: 'the parts that the log is split into',
    }),
  },
  { title: 'eventLogSizeSchema', description: 'How much the event log holds, and how much room it takes.' },
);
export type EventLogSize = Static<typeof EventLogSize>;

/** Says how large the event log is. */
export const GetEventLogSize = defineOperation({
  subject: 'call.audit.get-event-log-size',
  operationId: 'getEventLogSize',
  summary: 'Say how large the event log is',
  tag: 'Events',
  http: { method: 'GET', url: '/api/admin/events/size' },
  permission: 'ADMIN',
  reply: EventLogSize,
});
