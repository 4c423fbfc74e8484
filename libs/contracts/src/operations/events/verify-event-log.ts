import { type Static, Type } from 'typebox';
import { DeadLetter } from '../../outbox/dead-letters.ts';
import { Nullable } from '../../model/schema.ts';
import { defineOperation } from '../../operation.ts';

const id = (description: string) => Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description });
const hash = (description: string) =>
  Type.String({ description: `${description}: SHA-256, in hexadecimal`, minLength: 64, maxLength: 64 });

const { position, uid, type, reason, attempts, failedAt, nextAttemptAt } = DeadLetter.properties;
const deadLetter = { position, uid, type, reason, attempts, failedAt, nextAttemptAt };

/** The result of a check of the event log's hashes. */
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

const eventId = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description }));

/** Checks by their hashes that events have not changed since they were appended. */
export const VerifyEventLog = defineOperation({
  subject: 'call.audit.verify-event-log',
  operationId: 'verifyEventLog',
  summary: 'Verify that no event was altered, removed or moved',
  description:
    'Each event carries a hash of its content and of the hash before it. This recomputes the hashes of a range and names ' +
    'the first event that was altered, removed, moved or inserted in the database. A long range is checked in several calls: each ' +
    'response has the id up to which it came.',
  tag: 'Events',
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
