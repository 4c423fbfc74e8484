import { type Static, Type } from 'typebox';
import { operationsOf } from '../operation.ts';
import { DeadLetter } from '../outbox.ts';
import { documentedEventFilters, limitPattern, Nullable, offsetPattern, Timestamp } from '../schemas.ts';
import { DeprecatedEvents, Event, Events, SearchEventsBody } from './event.ts';

const defineOperation = operationsOf('Events');

export const DeadLetters = Type.Object(
  {
    deadLetters: Type.Array(
      Type.Object({
        service: Type.String({ description: 'the service that could not apply it' }),
        ...DeadLetter.properties,
      }),
      { description: 'the oldest first for each service, at most 1,000' },
    ),
    unanswered: Type.Array(Type.String(), {
      description: 'services that did not respond in time; their dead letters are missing',
    }),
  },
  { title: 'deadLettersSchema', description: 'The dead letters of every service.' },
);

/** Lists the messages that services could not apply because of their content and retry. */
export const CollectDeadLetters = defineOperation({
  subject: 'call.audit.collect-dead-letters',
  summary: 'List the dead letters',
  description:
    'A service that cannot apply an event, or a new state of a flag, a segment or a project, because of its content keeps it as a dead ' +
    'letter and tries again, with growing pauses and whenever it starts, until that succeeds. Events of the audit service that are ' +
    'listed here are not in the event log yet.',
  isBuntingExtension: true,
  http: { method: 'GET', url: '/api/admin/events/dead-letters' },
  permission: 'ADMIN',
  reply: DeadLetters,
});

export const DeprecatedSearchEvents = defineOperation({
  subject: 'call.audit.deprecated-search-events',
  summary: 'Search for events',
  description:
    'Returns the events that match the criteria, newest first. Deprecated: it may be removed in a future version. It omits types that Unleash 6.4 does not have: `GET /api/admin/search/events` has those.',
  http: { method: 'POST', url: '/api/admin/events/search' },
  permission: 'authenticated',
  readsOnly: true,
  body: SearchEventsBody,
  reply: DeprecatedEvents,
  deprecated: true,
});

function count(description: string) {
  return Type.Integer({ minimum: 0, description });
}

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
    unindexed: Type.Optional(
      count(
        'the number of events of the version before whose texts wait to be indexed: searches by text find them, and take longer meanwhile',
      ),
    ),
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

/** Returns the number of events in the log, and its size on disk. */
export const GetEventLogSize = defineOperation({
  subject: 'call.audit.get-event-log-size',
  summary: 'Get the size of the event log',
  isBuntingExtension: true,
  http: { method: 'GET', url: '/api/admin/events/size' },
  permission: 'ADMIN',
  reply: EventLogSize,
});

function eventCount(description: string) {
  return Type.Integer({ minimum: 0, description });
}

/** Counts the events of projects, for the service that shows projects. A project without events is left out. Days are days of UTC. */
export const GetProjectActivity = defineOperation({
  subject: 'call.audit.get-project-activity',
  summary: 'Count the events of projects',
  idempotent: true,
  body: Type.Object({
    project: Type.Optional(Type.String({ description: 'only this project' })),
    days: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 366, description: 'the number of days, until today, to count by day' }),
    ),
  }),
  reply: Type.Object({
    projects: Type.Array(
      Type.Object({
        id: Type.String(),
        lastEventAt: Timestamp('when its newest event happened'),
        currentWindow: eventCount('in the last 30 days, today included'),
        pastWindow: eventCount('in the 30 days before those'),
        days: Type.Array(Type.Object({ date: Type.String(), count: eventCount('on that day') }), {
          description: 'days with events, oldest first; empty if `days` is absent',
        }),
      }),
    ),
  }),
  tag: 'Internal',
});

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
  http: { method: 'GET', url: '/api/admin/event-creators' },
  permission: 'authenticated',
  reply: EventCreators,
});

export const FeatureEvents = Type.Object(
  { toggleName: Type.String({ description: 'the name of the feature' }), ...Events.properties },
  { title: 'featureEventsSchema', description: 'The newest events of a feature.' },
);
export type FeatureEvents = Static<typeof FeatureEvents>;

export const ListNewestEventsOfFeature = defineOperation({
  subject: 'call.audit.list-newest-events-of-feature',
  operationId: 'getEventsForToggle',
  summary: 'List the newest events of a feature',
  description: 'Returns the 100 newest events of the feature that the caller may see; none for an unknown feature.',
  http: { method: 'GET', url: '/api/admin/events/:featureName' },
  permission: 'authenticated',
  params: Type.Object({ featureName: Type.String({ description: 'name of the feature' }) }),
  reply: FeatureEvents,
  errors: [],
});

export const ListNewestEvents = defineOperation({
  subject: 'call.audit.list-newest-events',
  operationId: 'getEvents',
  summary: 'List the newest events',
  description: 'Returns the 100 newest events, of the whole log or of one project.',
  http: { method: 'GET', url: '/api/admin/events' },
  permission: 'ADMIN',
  query: Type.Object({ project: Type.Optional(Type.String({ description: 'the id of a project' })) }),
  reply: Events,
});

// The patterns are for the OpenAPI document only: the audit service parses each parameter in code, in one pass.

function text(description: string, documented: Record<string, unknown> = {}) {
  return Type.Optional(Type.String({ description, ...documented }));
}

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
  from: text('the first day: `IS:` and a date', { ...documentedEventFilters.day }),
  to: text('the last day, it included: `IS:` and a date', {
    ...documentedEventFilters.day,
  }),
  timeZone: text('the time zone of the days of `from` and `to`, such as `Europe/Oslo`', { documentedDefault: 'UTC' }),
};

export const SearchEvents = defineOperation({
  subject: 'call.audit.search-events',
  summary: 'Search events',
  description:
    'Returns the events that match every one of the filters, newest first, page by page: of those that the caller may see.',
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

export const FeedEvent = Type.Object(
  {
    ...Event.properties,
    hash: Nullable(Type.String(), {
      description:
        'the hash of the event and of all before it, SHA-256 in hexadecimal; store it to verify the log later',
    }),
  },
  { title: 'feedEventSchema', description: 'An event, and its hash.' },
);
export type FeedEvent = Static<typeof FeedEvent>;

/** Streams events in the order of their ids, each once. A disconnected client resumes after the last id it received. */
export const FeedEvents = defineOperation({
  subject: 'call.audit.feed-events',
  summary: 'Stream the events',
  description:
    'Streams the events after an id that match every one of the filters, of those that the caller may see: oldest first, one JSON ' +
    'text a line. Every event comes exactly once, also while others write. Without `follow` the stream ends at the newest ' +
    'event. With it, new events follow as they come, and an empty line every few seconds when none do, until the stream ' +
    'has been open for as long as the server allows, the key is revoked, or the client leaves. To resume, repeat the request with ' +
    'the id of the last event that arrived.',
  isBuntingExtension: true,
  http: { method: 'GET', url: '/api/admin/events/feed', lines: FeedEvent },
  permission: 'authenticated',
  query: Type.Object({
    after: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'the id of the last event that the caller has; default: 0, from the first event on',
      }),
    ),
    follow: Type.Optional(Type.Boolean({ description: 'whether to wait for new events; default: false' })),
    ...eventFilterParameters,
  }),
  reply: Type.Object({
    items: Type.Array(FeedEvent),
    next: Type.Integer({ minimum: 0, description: 'the value of `after` for the next page' }),
    atEnd: Type.Boolean({ description: 'whether no event after `next` exists now' }),
  }),
  errors: ['ValidationError'],
});

function id(description: string) {
  return Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description });
}
function hash(description: string) {
  return Type.String({ description: `${description}: SHA-256, in hexadecimal`, minLength: 64, maxLength: 64 });
}

const { position, uid, type, reason, attempts, failedAt, nextAttemptAt } = DeadLetter.properties;
const deadLetter = { position, uid, type, reason, attempts, failedAt, nextAttemptAt };

export const EventLogVerification = Type.Object(
  {
    intact: Type.Boolean({ description: 'whether every verified event is unchanged since it was appended' }),
    complete: Type.Boolean({
      description:
        'whether all of the range was checked, and every event that services emitted is in the log: false if the time limit ended it before, or a ' +
        'fault was found (go on from `checkedTo` while that is less than `to`), and while there are `deadLetters` or `neverArrived`',
    }),
    from: id('the first event of the range'),
    to: id('the last event of the range'),
    checked: id('how many events were checked'),
    checkedTo: id('the last event that was checked and found intact'),
    hash: hash('the hash of the event `checkedTo`'),
    head: Type.Object(
      { id: id('the last event of the log'), hash: hash('its hash') },
      {
        description:
          'The end of the log. Store it outside of Bunting and send it as `known` next time: the verification then detects a truncated or rewritten log.',
      },
    ),
    fault: Nullable(
      Type.Object({
        id: id('the first event that is not what it was'),
        kind: Type.Enum(['missing', 'altered', 'moved', 'added', 'head'], {
          type: 'string',
          description: 'the kind of the fault',
        }),
        message: Type.String({ description: 'the fault, in a sentence' }),
      }),
      { description: 'the first fault; null when there is none' },
    ),
    neverArrived: Type.Array(
      Type.Object({
        service: Type.String({ description: 'the service that emitted them' }),
        first: Type.Integer({
          minimum: 1,
          description: 'the first of them, by its position in the outbox of the service',
        }),
        last: Type.Integer({ minimum: 1, description: 'the last of them' }),
        noticedAt: Type.String({ format: 'date-time', description: 'the time of detection' }),
      }),
      {
        description:
          'Events that were emitted and are missing from the log, because the service had pruned them. ' +
          'Only the restoration of an old backup or a manual change in a database causes this.',
      },
    ),
    deadLetters: Type.Array(
      Type.Object({
        service: DeadLetter.properties.producer,
        ...deadLetter,
      }),
      {
        description:
          'Events that could not be appended because of their content, at most a thousand. They are kept and tried again, and are ' +
          'appended at the end of the log when that succeeds.',
      },
    ),
  },
  {
    title: 'eventLogVerificationSchema',
    description: 'The result of the verification of the hashes of the event log.',
  },
);
export type EventLogVerification = Static<typeof EventLogVerification>;

function eventId(description: string) {
  return Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description }));
}

/** Checks by their hashes that events have not changed since they were appended. */
export const VerifyEventLog = defineOperation({
  subject: 'call.audit.verify-event-log',
  summary: 'Verify that no event was altered, removed or moved',
  description:
    'Each event carries a hash of its content and of the hash before it. This recomputes the hashes of a range and names ' +
    'the first event that was altered, removed, moved or inserted in the database. A long range is checked in several calls: each ' +
    'response has the id up to which it came.',
  isBuntingExtension: true,
  http: { method: 'GET', url: '/api/admin/events/verify' },
  permission: 'ADMIN',
  query: Type.Object({
    from: eventId('the first event to check; default: the first of the log'),
    to: eventId('the last event to check; default: the last of the log'),
    known: Type.Optional(
      Type.String({
        maxLength: 100,
        documentedPattern: '^[0-9]{1,15}:[0-9a-fA-F]{64}$',
        description: 'an id, a colon, and the hash that the event with this id had when you noted it',
      }),
    ),
  }),
  reply: EventLogVerification,
  errors: ['ValidationError'],
});
