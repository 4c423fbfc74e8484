import { databaseSettings } from '@bunting/runtime';
import { type Static, Type } from 'typebox';

/** The settings of the audit service. */
export const AuditConfig = Type.Object({
  ...databaseSettings('AUDIT'),
  AUDIT_FRESHNESS_WAIT_MS: Type.Integer({
    minimum: 0,
    default: 1_000,
    description: 'maximum milliseconds that a search waits for events that were committed before it',
  }),
  AUDIT_POLL_INTERVAL_MS: Type.Integer({
    minimum: 10,
    default: 5_000,
    description: 'milliseconds between polls of each producer without a wake-up signal',
  }),
  AUDIT_DEAD_LETTER_AFTER_MS: Type.Integer({
    minimum: 0,
    default: 120_000,
    description:
      'milliseconds for which an event that cannot be appended because of its content blocks later events of its producer, before it becomes a dead letter',
  }),
  AUDIT_RETENTION_DAYS: Type.Optional(
    Type.Integer({ minimum: 1, description: 'days for which events are retained; without it they are never dropped' }),
  ),
  AUDIT_PUBLIC_URL: Type.String({
    pattern: '^(https?://.*)?$',
    default: '',
    description: 'the address of the web console; links in summaries begin with it',
  }),
});
export type AuditConfig = Static<typeof AuditConfig>;
