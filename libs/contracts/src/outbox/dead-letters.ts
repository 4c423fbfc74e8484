import { type Static, Type } from 'typebox';
import { Timestamp } from '../model/schema.ts';
import { defineOperation, type ServiceName } from '../operation.ts';
import { OutboxTopic } from './outbox-messages.ts';

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

const defineReadDeadLetters = <S extends ServiceName>(service: S) =>
  defineOperation({
    subject: `call.${service}.read-dead-letters`,
    operationId: 'readDeadLetters',
    summary: 'List the messages that the service could not apply, oldest first',
    tag: 'Internal',
    permission: 'service',
    idempotent: true,
    reply: Type.Array(DeadLetter),
  });

/** The operation that lists the dead letters of a service, for each consumer except audit, which reads its own from its database. */
export const deadLetterOperations = {
  search: defineReadDeadLetters('search'),
  'change-requests': defineReadDeadLetters('change-requests'),
  gateway: defineReadDeadLetters('gateway'),
} as const;
