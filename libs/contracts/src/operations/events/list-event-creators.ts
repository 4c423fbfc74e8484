import { type Static, Type } from 'typebox';
import { defineOperation } from '../../operation.ts';

/** The users who caused events. */
export const EventCreators = Type.Array(
  Type.Object({
    id: Type.Integer({ description: 'id of the user; negative for tokens and for Bunting itself' }),
    name: Type.String({ description: 'the name of the user in the newest of the events' }),
  }),
  { title: 'eventCreatorsSchema', description: 'The users who caused events, by name.' },
);
export type EventCreators = Static<typeof EventCreators>;

/** Lists the users who caused events that the caller may see. */
export const ListEventCreators = defineOperation({
  subject: 'call.audit.list-event-creators',
  operationId: 'getEventCreators',
  summary: 'List the creators of events',
  tag: 'Events',
  http: { method: 'GET', url: '/api/admin/event-creators' },
  permission: 'authenticated',
  reply: EventCreators,
});
