import { type Static, type TSchema, Type } from 'typebox';
import { eventTypes, unleashEventTypes } from './event-types.ts';
import { Constant, AnyObject, Nullable, Timestamp } from '../model/schema.ts';
import { Tag } from '../model/features/tag.ts';

/** The text that the event log stores instead of a secret in the data of an event. */
export const redactedText = '[redacted]';

const interfaceEventType = Type.Enum([...unleashEventTypes], {
  type: 'string',
  title: 'eventTypeSchema',
  description: 'the type of the event',
});
const anyEventType = Type.Enum([...eventTypes], {
  type: 'string',
  title: 'loggedEventTypeSchema',
  description: 'the type of the event: one of Unleash 6.4, or one of those for links, which Unleash 8 has',
});

const membersOf = <T extends TSchema>(type: T) => ({
  id: Type.Integer({ minimum: 1, description: 'the id; a later event has a higher one' }),
  createdAt: Timestamp('when it happened'),
  type,
  createdBy: Type.String({ description: 'the user or token that caused it' }),
  createdByUserId: Type.Optional(Nullable(Type.Number(), { description: 'the id of the user who caused it' })),
  environment: Type.Optional(Nullable(Type.String(), { description: 'the environment that it is about' })),
  project: Type.Optional(Nullable(Type.String(), { description: 'the project that it is about' })),
  featureName: Type.Optional(Nullable(Type.String(), { description: 'the feature that it concerns' })),
  data: Type.Optional(
    Nullable(AnyObject(), { description: 'the state of its subject after the event, such as a flag or a segment' }),
  ),
  preData: Type.Optional(Nullable(AnyObject(), { description: 'the state of its subject before the event' })),
  tags: Type.Optional(Nullable(Type.Array(Tag), { description: 'the tags of the feature' })),
  label: Type.Optional(Nullable(Type.String(), { description: 'a short name of the event for people' })),
  summary: Type.Optional(Nullable(Type.String(), { description: 'the summary of the event, in Markdown' })),
});

/** A fact about the past, in the form of responses. */
export const Event = Type.Object(
  {
    ...membersOf(anyEventType),
    groupType: Type.Optional(
      Nullable(Type.String(), {
        description:
          'what caused the events of the same `groupId`: `change-request` or `transaction`; null for an event that was caused alone',
      }),
    ),
    groupId: Type.Optional(
      Nullable(Type.String(), {
        description: 'the same for all events of one act: the id of the applied change request, or a random one',
      }),
    ),
  },
  { title: 'loggedEventSchema', description: 'A fact about the past.' },
);
export type Event = Static<typeof Event>;

const pageOf = <T extends TSchema>(event: T) => ({
  version: Constant(1, 'the version of this format; it increases only when the format changes'),
  events: Type.Array(event, { description: 'the events of this page, newest first' }),
  totalEvents: Type.Optional(
    Type.Integer({ minimum: 0, description: 'the number of events that match, on all pages' }),
  ),
});

/** The newest events. */
export const Events = Type.Object(pageOf(Event), {
  title: 'newestEventsSchema',
  description: 'Events, newest first.',
});
export type Events = Static<typeof Events>;

/** One page of the deprecated search: events of the types and with the members that clients of its time know. */
export const DeprecatedEvents = Type.Object(
  pageOf(Type.Object(membersOf(interfaceEventType), { title: 'eventSchema', description: 'A fact about the past.' })),
  { title: 'eventsSchema', description: 'One page of events, newest first.' },
);

/** The filters of an event search. */
export const SearchEventsBody = Type.Object(
  {
    type: Type.Optional(interfaceEventType),
    project: Type.Optional(Type.String({ description: 'the id of a project, exactly as it is spelled' })),
    feature: Type.Optional(Type.String({ description: 'the name of a feature, exactly as it is spelled' })),
    query: Type.Optional(
      Type.String({
        description: "text to find in the event's type, in its creator's username or e-mail, or in its data",
      }),
    ),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 100,
        default: 100,
        description: 'the maximum number of events in the response; default: 100',
      }),
    ),
    offset: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'the event id from which to start listing, it included; 0 or absent starts at the newest',
      }),
    ),
  },
  { title: 'searchEventsSchema', description: 'The criteria of an event search. Every member is optional.' },
);
export type SearchEventsBody = Static<typeof SearchEventsBody>;
