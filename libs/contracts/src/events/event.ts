import { type Static, Type } from 'typebox';
import { eventTypes } from './event-types.ts';
import { Constant, AnyObject, Nullable, Timestamp } from '../model/schema.ts';
import { Tag } from '../model/features/tag.ts';

/** The text that the event log stores instead of a secret in the data of an event. */
export const redactedText = '[redacted]';

const EventTypeName = Type.Enum([...eventTypes], {
  type: 'string',
  title: 'eventTypeSchema',
  description:
    'the type of the event; `feature-link-added`, `feature-link-updated` and `feature-link-removed` are additions to the catalogue of Unleash 6.4',
});

/** A fact about the past, in the form of responses. */
export const Event = Type.Object(
  {
    id: Type.Integer({ minimum: 1, description: 'the id; a later event has a higher one' }),
    createdAt: Timestamp('when it happened'),
    type: EventTypeName,
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
  },
  { title: 'eventSchema', description: 'A fact about the past.' },
);
export type Event = Static<typeof Event>;

/** One page of events, newest first. */
export const Events = Type.Object(
  {
    version: Constant(1, 'the version of this format; it increases only when the format changes'),
    events: Type.Array(Event, { description: 'the events of this page, newest first' }),
    totalEvents: Type.Optional(
      Type.Integer({ minimum: 0, description: 'the number of events that match, on all pages' }),
    ),
  },
  { title: 'eventsSchema', description: 'One page of events, newest first.' },
);
export type Events = Static<typeof Events>;

/** The filters of an event search. */
export const SearchEventsBody = Type.Object(
  {
    type: Type.Optional(EventTypeName),
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
