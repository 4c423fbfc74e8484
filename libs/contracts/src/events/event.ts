import { type Static, type TSchema, Type } from 'typebox';
import { Tag } from '../features/tags.ts';
import type { Caller } from '../permissions.ts';
import { AnyObject, Constant, Nullable, Timestamp } from '../schemas.ts';
import { eventTypes, unleashEventTypes } from './event-types.ts';

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
  description: 'the type of the event: one of Unleash 6.4, or one of those for links, requested reviewers and comments',
});

function membersOf<T extends TSchema>(type: T) {
  return {
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
  };
}

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

function pageOf<T extends TSchema>(event: T) {
  return {
    version: Constant(1, 'the version of this format; it increases only when the format changes'),
    events: Type.Array(event, { description: 'the events of this page, newest first' }),
    totalEvents: Type.Optional(
      Type.Integer({ minimum: 0, description: 'the number of events that match, on all pages' }),
    ),
  };
}

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

/** An event in the outbox of its producer; the audit service assigns its id. */
export const OutboxEvent = Type.Object({
  type: Type.Enum([...eventTypes], { type: 'string' }),
  createdAt: Timestamp('when it happened'),
  createdBy: Type.String({
    description: 'the actor: e-mail, else user name; the name of the token for an admin token',
  }),
  createdByUserId: Type.Number({ description: 'the id of the user who caused it' }),
  createdByUsername: Type.Optional(
    Type.String({
      description: 'a text besides `createdBy` by which searches find the user; the log does not return it',
    }),
  ),
  project: Nullable(Type.String()),
  environment: Nullable(Type.String()),
  featureName: Nullable(Type.String()),
  data: Type.Unknown({ description: 'the state of its subject after the event; null if the event has none' }),
  preData: Type.Unknown({ description: 'the state of its subject before the event; null if the event has none' }),
  tags: Type.Array(Type.Object({ type: Type.String(), value: Type.String() }), {
    description: 'the tags of the feature',
  }),
  groupType: Type.Optional(
    Nullable(Type.String(), {
      description: '`change-request`, or `transaction`; absent for an event that was caused alone',
    }),
  ),
  groupId: Type.Optional(
    Nullable(Type.String(), { description: 'the same for all events that one transaction or change request caused' }),
  ),
});
export type OutboxEvent = Static<typeof OutboxEvent>;

/** The part of an event that a rule decides: what happened. `outboxEvent` adds who caused it, and when. */
export type EventContent = Pick<OutboxEvent, 'type'> &
  Readonly<
    Partial<Omit<OutboxEvent, 'type' | 'tags' | 'createdAt' | 'createdBy' | 'createdByUserId' | 'createdByUsername'>>
  > & {
    readonly tags?: readonly OutboxEvent['tags'][number][];
  };

/** Who causes an event: by the name in events, and where that is an e-mail address by the username. */
export type EventAuthor = Pick<Caller, 'id' | 'name'> & { readonly username?: string | null | undefined };

/** Completes the content of an event for the outbox. Members that the content leaves out become null, and its tags an empty list. */
export function outboxEvent(
  {
    type,
    project = null,
    environment = null,
    featureName = null,
    data = null,
    preData = null,
    tags = [],
    groupType,
    groupId,
  }: EventContent,
  { by, now }: { readonly by: EventAuthor; readonly now: Date },
): OutboxEvent {
  return {
    type,
    createdAt: now.toISOString(),
    createdBy: by.name,
    createdByUserId: by.id,
    ...(typeof by.username === 'string' ? { createdByUsername: by.username } : {}),
    project,
    environment,
    featureName,
    data,
    preData,
    tags: [...tags],
    ...(groupId === undefined ? {} : { groupType: groupType ?? null, groupId }),
  };
}
