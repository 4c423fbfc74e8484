import { type Static, Type } from 'typebox';
import { defineOperation } from '../../operation.ts';

/** Everybody who caused events. */
export const EventCreators = Type.Array(
  Type.Object({
    id: Type.Integer({ description: 'id of the user; negative for tokens and for Bunting itself' }),
    name: Type.String({ description: 'what the newest of the events calls the user' }),
  }),
  { title: 'eventCreatorsSchema', description: 'Everybody who caused events, by name.' },
);
export type EventCreators = Static<typeof EventCreators>;

/** Lists who caused the events that the caller may see. */
export const ListEventCreators = defineOperation({
  subject: 'call.audit.list-event-creators',
  operationId: 'getEventCreators',
  summary: 'List who caused events',
  tag: 'Events',
  http: { method: 'GET', url: '/api/admin/event-creators' },
  permission: 'authenticated',
  reply: EventCreators,
});
