import { DeprecatedEvents, SearchEventsBody } from '../../events/event.ts';
import { defineOperation } from '../../operation.ts';

/** Searches the event log, newest first. */
export const DeprecatedSearchEvents = defineOperation({
  subject: 'call.audit.deprecated-search-events',
  operationId: 'deprecatedSearchEvents',
  summary: 'Search for events',
  description:
    'Returns the events that match the criteria, newest first. Deprecated: it may be removed in a future version. It omits types that Unleash 6.4 does not have: `GET /api/admin/search/events` has those.',
  tag: 'Events',
  http: { method: 'POST', url: '/api/admin/events/search' },
  permission: 'authenticated',
  readsOnly: true,
  body: SearchEventsBody,
  reply: DeprecatedEvents,
  errors: ['ValidationError'],
  deprecated: true,
});
