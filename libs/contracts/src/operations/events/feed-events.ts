import { type Static, Type } from 'typebox';
import { Event } from '../../events/event.ts';
import { Nullable } from '../../model/schema.ts';
import { defineOperation } from '../../operation.ts';
import { eventFilterParameters } from './search-events.ts';

/** One event of the feed, on a line of its own. */
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
  operationId: 'feedEvents',
  summary: 'Stream the events',
  description:
    'Streams the events after an id that match every one of the filters, of those that the caller may see: oldest first, one JSON ' +
    'text a line. Every event comes exactly once, also while others write. Without `follow` the stream ends at the newest ' +
    'event. With it, new events follow as they come, and an empty line every few seconds when none do, until the stream ' +
    'has been open for as long as the server allows, the key is revoked, or the client leaves. To resume, repeat the request with ' +
    'the id of the last event that arrived.',
  tag: 'Events',
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
