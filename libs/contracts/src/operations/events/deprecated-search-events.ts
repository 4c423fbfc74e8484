import { Events, SearchEventsBody } from '../../events/event.ts';
import { defineOperation } from '../../operation.ts';

/** Searches the event log, newest first. */
export const DeprecatedSearchEvents = defineOperation({
  subject: 'call.audit.deprecated-search-events',
  operationId: 'deprecatedSearchEvents',
  summary: 'Search for events',
  description:
    'Returns the events that match the criteria, newest first. Deprecated: it may be removed in a future version.',
  tag: 'Events',
  http: { method: 'POST', url: '/api/admin/events/search' },
  permission: 'authenticated',
  readsOnly: true,
  body: SearchEventsBody,
  reply: Events,
  errors: ['ValidationError'],
  deprecated: true,
});
