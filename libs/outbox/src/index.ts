export { measureDeadLetters } from './dead-letter-metrics.ts';
export { deadLetters, readDeadLettersEndpoint } from './dead-letters.ts';
export { digestOfVersions } from './digest.ts';
export { type ReadRevision, revisionReader, type Revision } from './latest-event.ts';
export { type MissedRange, missedMessages } from './missed-messages.ts';
export { idempotencyTables } from './idempotency-store.ts';
export { insertStates, type Outbox } from './transaction-with-outbox.ts';
export { type ProducerOptions, startOutboxProducer, type OutboxProducer } from './start-outbox-producer.ts';
export {
  type InMemoryProjection,
  type InMemoryProjectionOptions,
  startInMemoryProjection,
} from './in-memory-projection.ts';
export { type Projection, type ProjectionOptions, startProjection } from './projection.ts';
export type { Relay } from './relay.ts';
export { inboxTables, outboxTables } from './schema.ts';
export type { ReplyOrReplay, WriteContext, IdempotentSteps, UnitOfWork } from './idempotent-unit-of-work.ts';
