export { digestOfVersions } from './digest.ts';
export { type Missed, missedMessages } from './missed.ts';
export { idempotencyGrants, idempotencyTables } from './once.ts';
export type { Outbox } from './outbox.ts';
export { type ProducerOptions, startTelling, type Telling } from './producer.ts';
export { type Projection, type ProjectionOptions, startProjection } from './projection.ts';
export type { Relay } from './relay.ts';
export { inboxHistory, inboxTables, outboxTables } from './schema.ts';
export type { Answered, Asking, InSteps, Work } from './work.ts';
