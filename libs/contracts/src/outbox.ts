import { type Static, Type } from 'typebox';
import type { OutboxEvent } from './events/event.ts';
import { defineOperation, type ServiceName } from './operation.ts';
import { Timestamp } from './schemas.ts';

/**
 * The kinds of outbox rows: events record what happened, states are snapshots, and `delivery` rows are snapshots of what SDKs evaluate.
 * The state of a feature is the one that it has when the message is read; a reply may leave out messages that would repeat it. The newest
 * state and the newest `delivery` row of each entity are never pruned.
 */
export const OutboxTopic = Type.Enum(['event', 'state', 'delivery']);
export type OutboxTopic = Static<typeof OutboxTopic>;

/** One row of a producer's outbox. Positions of a topic are assigned as 1, 2, 3 … in the order of the commits; pruned rows leave gaps. */
export const OutboxMessage = Type.Object({
  position: Type.Integer({ minimum: 1 }),
  uid: Type.String({ format: 'uuid', description: 'the same however often the message is delivered' }),
  type: Type.String({ description: 'of an event: its type; of a state: the type of its entity' }),
  recordedAt: Type.String({ format: 'date-time' }),
  traceparent: Type.Union([Type.String(), Type.Null()]),
  payload: Type.Unknown(),
});
export type OutboxMessage = Static<typeof OutboxMessage>;

/** The event that a message of the topic `event` carries. It is not validated: its producer has written an `OutboxEvent`. */
export function eventOfMessage({ payload }: Pick<OutboxMessage, 'payload'>): OutboxEvent {
  return payload as OutboxEvent;
}

/**
 * Defines the operation with which a consumer reads the messages of a producer after a position. The reply's `head` is a barrier: every
 * message that was committed before the call has a position up to it. Further messages may exist even if a reply has fewer than `limit`.
 */
export function defineReadOutbox<S extends ServiceName>(service: S) {
  return defineOperation({
    subject: `call.${service}.read-outbox`,
    summary: 'List the messages after a position in the outbox, with its end',
    idempotent: true,
    body: Type.Object({
      topic: OutboxTopic,
      consumer: Type.String({ description: 'the service that reads' }),
      after: Type.Integer({ minimum: 0 }),
      uid: Type.Optional(
        Type.Union([Type.String({ format: 'uuid' }), Type.Null()], {
          description:
            'the uid of the row at the position `after`: the consumer has applied this row and all before it, so that they may be pruned; null where it does not know the uid. Left out by a consumer that has not yet applied the rows up to `after`',
        }),
      ),
      limit: Type.Integer({ minimum: 0, maximum: 1000, description: '0 requests only the barrier' }),
      types: Type.Optional(
        Type.Array(Type.String(), {
          description: 'the types of the messages that the consumer needs; the reply leaves out all others',
        }),
      ),
    }),
    reply: Type.Object({
      head: Type.Integer({ minimum: 0 }),
      at: Type.Optional(
        Type.Union([Type.String({ format: 'uuid' }), Type.Null()], {
          description:
            'the uid of the row at the position `after`, if the row still exists: where the consumer has applied a row with another uid, the outbox was restored from a backup',
        }),
      ),
      headUid: Type.Optional(
        Type.Union([Type.String({ format: 'uuid' }), Type.Null()], {
          description: 'the uid of the last message, if it still exists; in a reply to a request with `types`',
        }),
      ),
      messages: Type.Array(OutboxMessage),
    }),
  });
}

/** The operation that reads the outbox of a service, for each producer. */
export const outboxOperations = {
  features: defineReadOutbox('features'),
  'change-requests': defineReadOutbox('change-requests'),
  gateway: defineReadOutbox('gateway'),
  integrations: defineReadOutbox('integrations'),
} as const;
export type Producer = keyof typeof outboxOperations;

/** The consumers of each outbox. A row is pruned after every one of them has acknowledged it. */
export const consumersOf: Readonly<Record<Producer, Readonly<Record<OutboxTopic, readonly ServiceName[]>>>> = {
  features: { event: ['audit', 'change-requests'], state: ['search', 'gateway'], delivery: ['gateway'] },
  'change-requests': { event: ['audit'], state: [], delivery: [] },
  gateway: { event: ['audit', 'change-requests'], state: [], delivery: [] },
  integrations: { event: ['audit'], state: [], delivery: [] },
};

/**
 * Services that the events of a producer wake although they do not read its outbox: other replicas of change-requests look for due jobs,
 * gateways read the event log on for clients that follow it, and integrations deliver its events.
 */
export const alsoWokenByEventsOf: Readonly<Record<Producer, readonly ServiceName[]>> = {
  features: ['gateway', 'integrations'],
  'change-requests': ['change-requests', 'gateway', 'integrations'],
  gateway: ['gateway', 'integrations'],
  integrations: ['gateway', 'integrations'],
};

/** A message that a service could not apply because of its content. The service stores and retries it. */
export const DeadLetter = Type.Object({
  producer: Type.String({ description: 'the service that emitted it' }),
  topic: OutboxTopic,
  position: Type.Integer({ minimum: 1, description: 'its position in the outbox of that service' }),
  uid: Type.String({ format: 'uuid', description: 'the id of the message' }),
  type: Type.String({ description: 'the type of the event, or the entity type of the state' }),
  reason: Type.String({ description: 'the reason why the last attempt failed' }),
  attempts: Type.Integer({ minimum: 1, description: 'the number of failed attempts' }),
  failedAt: Timestamp('when it became a dead letter'),
  lastFailedAt: Timestamp('when the last attempt failed'),
  nextAttemptAt: Timestamp('when the next attempt is due'),
});
export type DeadLetter = Static<typeof DeadLetter>;

function defineReadDeadLetters<S extends ServiceName>(service: S) {
  return defineOperation({
    subject: `call.${service}.read-dead-letters`,
    summary: 'List the messages that the service could not apply, oldest first',
    idempotent: true,
    reply: Type.Array(DeadLetter),
  });
}

/** The operation that lists the dead letters of a service, for each consumer except audit, which reads its own from its database. */
export const deadLetterOperations = {
  search: defineReadDeadLetters('search'),
  'change-requests': defineReadDeadLetters('change-requests'),
  gateway: defineReadDeadLetters('gateway'),
} as const;
