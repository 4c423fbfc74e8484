import { Type } from 'typebox';
import { defineOperation } from '../operation.ts';
import { Count, Nullable, Timestamp } from '../schemas.ts';
import { Event } from './event.ts';

/** An event of the log with what identifies it for a consumer. */
export const LogEntry = Type.Object({
  uid: Type.String({ format: 'uuid', description: 'the same also after the log was restored from a backup' }),
  hash: Type.String({ description: 'the hash of the event and of all events before it' }),
  event: Event,
  limited: Type.Optional(
    Type.Object(
      {
        projects: Type.Array(Type.String(), { description: 'the other projects' }),
        event: Event,
      },
      {
        description:
          'of an event that names a project beside its own, unless descriptions are left out: the event without what it says of it',
      },
    ),
  ),
});

/**
 * Reads the log for a consumer that follows it by id. A consumer that has the hash of the event at its position notices by `at` that the log was restored from a backup: equal hashes mean an
 * equal log up to there.
 */
export const ReadEventLog = defineOperation({
  subject: 'call.audit.read-event-log',
  summary: 'List the events after an id, with the end of the log',
  idempotent: true,
  body: Type.Object({
    after: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
    limit: Type.Integer({ minimum: 0, maximum: 250, description: '0 requests only the end of the log and `at`' }),
    waitsForCommits: Type.Optional(
      Type.Boolean({ description: 'whether the log first takes everything that was committed before the call' }),
    ),
    omitsDescriptions: Type.Optional(
      Type.Boolean({ description: 'whether label and summary are left out: making them is most of the call' }),
    ),
  }),
  reply: Type.Object({
    head: Count('the id of the newest event'),
    headHash: Type.String({ description: 'its hash' }),
    at: Nullable(Type.String(), {
      description: 'the hash of the event with the id `after`; null if there is none, or it was dropped for its age',
    }),
    events: Type.Array(LogEntry, { description: 'the events with the next ids, without gaps' }),
  }),
});

/** Finds the position in the log from which on events are not older than a time. */
export const FindEventLogPosition = defineOperation({
  subject: 'call.audit.find-event-log-position',
  summary: 'Find the id after which events are not older than a time',
  idempotent: true,
  body: Type.Object({ since: Timestamp('the time') }),
  reply: Type.Object({ after: Count('the id of the last event before that time; 0 if there is none') }),
});
