import { type Static, Type } from 'typebox';
import { documentedEventFilters, limitPattern, offsetPattern } from '../../model/documented-patterns.ts';
import { Event } from '../../events/event.ts';
import { defineOperation } from '../../operation.ts';

// The patterns are for the OpenAPI document only: the audit service parses each parameter in code, in one pass.

const text = (description: string, documented: Record<string, unknown> = {}) =>
  Type.Optional(Type.String({ description, ...documented }));

/** One page of a search for events. */
export const FoundEvents = Type.Object(
  {
    events: Type.Array(Event, { description: 'the events of this page, newest first' }),
    total: Type.Integer({ minimum: 0, description: 'the number of events that match, on all pages' }),
  },
  { title: 'eventSearchResponseSchema', description: 'One page of a search for events.' },
);
export type FoundEvents = Static<typeof FoundEvents>;

/** The filters of events in the query of a search or of the feed. */
export const eventFilterParameters = {
  id: text('filters by id of the event, in the same form as `type`', {
    ...documentedEventFilters.ids,
  }),
  groupId: text('filters by the id that all events of one act share, in the same form as `type`', {
    ...documentedEventFilters.values,
  }),
  query: text(
    "text to find in the event's data, in the data before, or in its tags; upper and lower case do not matter",
  ),
  type: text('filters by type of event: `IS` or `IS_ANY_OF`, a colon, and values with commas between them', {
    ...documentedEventFilters.values,
  }),
  project: text('filters by project id, in the same form as `type`', {
    ...documentedEventFilters.values,
  }),
  feature: text('filters by name of feature, in the same form as `type`', {
    ...documentedEventFilters.values,
  }),
  environment: text('filters by environment, in the same form as `type`', {
    ...documentedEventFilters.values,
  }),
  createdBy: text('filters by id of the user who caused the event, in the same form as `type`', {
    ...documentedEventFilters.ids,
  }),
  from: text('the first day, UTC: `IS:` and a date', { ...documentedEventFilters.day }),
  to: text('the last day, UTC, it included: `IS:` and a date', {
    ...documentedEventFilters.day,
  }),
};

/** Finds events by filters, page by page. */
export const SearchEvents = defineOperation({
  subject: 'call.audit.search-events',
  operationId: 'searchEvents',
  summary: 'Search events',
  description:
    'Returns the events that match every one of the filters, newest first, page by page: of those that the caller may see.',
  tag: 'Events',
  http: { method: 'GET', url: '/api/admin/search/events' },
  permission: 'authenticated',
  query: Type.Object({
    ...eventFilterParameters,
    offset: text('the number of events to skip; default: 0', {
      documentedDefault: '0',
      documentedPattern: offsetPattern,
    }),
    limit: text('the number of events on a page, 1 to 1000; default: 50', {
      documentedDefault: '50',
      documentedPattern: limitPattern,
    }),
  }),
  reply: FoundEvents,
  errors: ['ValidationError'],
});
