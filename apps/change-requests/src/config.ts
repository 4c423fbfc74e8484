import { type Static, Type } from 'typebox';

/** Everything that the service reads from its environment. */
export const ChangeRequestsConfig = Type.Object({
  CHANGE_REQUESTS_DATABASE_URL: Type.String({
    format: 'uri',
    description: 'PostgreSQL database of the change requests',
  }),
  CHANGE_REQUESTS_DATABASE_POOL_SIZE: Type.Integer({
    minimum: 2,
    maximum: 100,
    default: 10,
    description: 'most connections to the database of the change requests',
  }),
  CHANGE_REQUESTS_STATEMENT_TIMEOUT_MS: Type.Integer({
    minimum: 100,
    default: 10_000,
    description: 'milliseconds after which PostgreSQL gives up a statement of the change requests',
  }),
  CHANGE_REQUESTS_RELAY_INTERVAL_MS: Type.Integer({
    minimum: 10,
    default: 5_000,
    description: 'milliseconds between polls for events to publish on NATS; a commit wakes the relay without it',
  }),
  CHANGE_REQUESTS_OUTBOX_RETENTION_HOURS: Type.Integer({
    minimum: 0,
    default: 24,
    description: 'hours that published facts of the change requests are kept at least',
  }),
  CHANGE_REQUESTS_IDEMPOTENCY_HOURS: Type.Integer({
    minimum: 1,
    default: 24,
    description: 'hours that the change requests keep the answers of writes with an Idempotency-Key at least',
  }),
  CHANGE_REQUESTS_POLL_INTERVAL_MS: Type.Integer({
    minimum: 10,
    default: 5_000,
    description: 'milliseconds between polls of the features and the gateway; a commit announces itself',
  }),
  CHANGE_REQUESTS_SCHEDULE_INTERVAL_MS: Type.Integer({
    minimum: 10,
    maximum: 60_000,
    default: 500,
    description: 'milliseconds until a scheduled change that could not be applied at its time is tried again',
  }),
  CHANGE_REQUESTS_RECOVERY_MS: Type.Integer({
    minimum: 100,
    default: 5_000,
    description: 'milliseconds after which applying that did not end is taken up again, by whichever replica',
  }),
  CHANGE_REQUESTS_ADMIN_TOKENS_REVIEW: Type.Boolean({
    default: true,
    description: 'whether an admin token, behind which no person stands, may approve and reject',
  }),
  CHANGE_REQUESTS_ADMINS_REVIEW_OWN: Type.Boolean({
    default: true,
    description: 'whether administrators may approve and reject what they proposed themselves',
  }),
  CHANGE_REQUESTS_VOLUNTARY: Type.Boolean({
    default: true,
    description: 'whether changes may be proposed where no change request is needed',
  }),
});
export type ChangeRequestsConfig = Static<typeof ChangeRequestsConfig>;
