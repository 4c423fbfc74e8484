export { listDeadLetters } from './dead-letters/dead-letter-store.ts';
export { readDeadLettersEndpoint } from './dead-letters/read-dead-letters-endpoint.ts';
export { type PrunedUnreadRange, listPrunedUnreadMessages } from './consumer/pruned-unread-messages.ts';
export { idempotencyTables, encryptReply } from './idempotency/idempotency-store.ts';
export {
  emitInProjection,
  insertStatesSql,
  type Outbox,
  recordEvents,
  type RecordEvents,
} from './producer/transaction-with-outbox.ts';
export { startOutboxProducer, type OutboxProducer } from './producer/start-outbox-producer.ts';
export { startInMemoryProjection } from './consumer/in-memory-projection.ts';
export { type Projection, type ProjectionOptions, startProjection } from './consumer/projection.ts';
export { type AwaitedProjection, type TimedRequest, waitUntilFresh } from './consumer/wait-until-fresh.ts';
export { consumerTables, outboxTables } from './schema.ts';
export {
  isReplay,
  parsedReply,
  type ReplyOrReplay,
  type WriteContext,
  type IdempotentWrites,
  type WorkContext,
} from './idempotency/idempotent-unit-of-work.ts';
