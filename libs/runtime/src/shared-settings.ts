import { type TInteger, type TString, Type } from 'typebox';

/** The settings of a service's own database, under the service's prefix. */
export function databaseSettings<P extends string>(
  prefix: P,
  { poolMax = 10, minPoolMax = 2, statementTimeoutMs = 10_000 } = {},
) {
  return {
    [`${prefix}_DATABASE_URL`]: Type.String({ format: 'uri', description: "the service's PostgreSQL database" }),
    [`${prefix}_DATABASE_POOL_MAX`]: Type.Integer({
      minimum: minPoolMax,
      maximum: 100,
      default: poolMax,
      description: 'maximum connections to the database',
    }),
    [`${prefix}_STATEMENT_TIMEOUT_MS`]: Type.Integer({
      minimum: 100,
      default: statementTimeoutMs,
      description:
        'milliseconds after which PostgreSQL cancels a statement; a connection that does not respond for three times as long is replaced',
    }),
  } as Record<`${P}_DATABASE_URL`, TString> & Record<`${P}_DATABASE_POOL_MAX` | `${P}_STATEMENT_TIMEOUT_MS`, TInteger>;
}

/** The settings of a service that writes: its outbox, and the replies that it stores for retries with an Idempotency-Key. */
export function outboxSettings<P extends string>(prefix: P) {
  return {
    [`${prefix}_RELAY_POLL_INTERVAL_MS`]: Type.Integer({
      minimum: 10,
      default: 5_000,
      description: 'milliseconds between polls for events to publish on NATS; each commit wakes the relay as well',
    }),
    [`${prefix}_OUTBOX_RETENTION_HOURS`]: Type.Integer({
      minimum: 0,
      default: 24,
      description: 'minimum hours that published events stay in the outbox, where consumers can fetch them again',
    }),
    [`${prefix}_IDEMPOTENCY_RETENTION_HOURS`]: Type.Integer({
      minimum: 1,
      default: 24,
      description: 'minimum hours that the reply to a write with an Idempotency-Key is stored for retries',
    }),
  } as Record<
    `${P}_RELAY_POLL_INTERVAL_MS` | `${P}_OUTBOX_RETENTION_HOURS` | `${P}_IDEMPOTENCY_RETENTION_HOURS`,
    TInteger
  >;
}
