export { listDeadLetters, readDeadLettersEndpoint } from './dead-letters.ts';
export { encryptReply, idempotencyTables } from './idempotency-store.ts';
export {
  type IdempotentWrites,
  isReplay,
  parsedReply,
  type ReplyOrReplay,
  type WorkContext,
  type WriteContext,
} from './idempotent-unit-of-work.ts';
export { startInMemoryProjection } from './in-memory-projection.ts';
export { type OutboxProducer, startOutboxProducer } from './outbox-producer.ts';
export { type AwaitedProjection, type TimedRequest, waitUntilFresh } from './projection.ts';
export { consumerTables, outboxOfChanges, outboxReservation, outboxTables } from './schema.ts';
export {
  listPrunedUnreadMessages,
  type Projection,
  type ProjectionOptions,
  type PrunedUnreadRange,
  startProjection,
} from './table-projection.ts';
export {
  type Emitter,
  emitInProjection,
  type Outbox,
  type RecordEvents,
  recordEvents,
} from './transaction-with-outbox.ts';
