import { Type } from 'typebox';
import { Events } from '../../events/event.ts';
import { defineOperation } from '../../operation.ts';

/** Lists the newest events. */
export const ListNewestEvents = defineOperation({
  subject: 'call.audit.list-newest-events',
  operationId: 'getEvents',
  summary: 'List the newest events',
  description: 'Returns the 100 newest events, of the whole log or of one project.',
  tag: 'Events',
  http: { method: 'GET', url: '/api/admin/events' },
  permission: 'ADMIN',
  query: Type.Object({ project: Type.Optional(Type.String({ description: 'the id of a project' })) }),
  reply: Events,
});
