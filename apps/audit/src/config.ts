import { databaseSettings } from '@bunting/runtime';
import { type Static, Type } from 'typebox';

/** Everything that the audit service reads from its environment. */
export const AuditConfig = Type.Object({
  ...databaseSettings('AUDIT'),
  AUDIT_FRESHNESS_WAIT_MS: Type.Integer({
    minimum: 0,
    default: 1_000,
    description: 'milliseconds that a search waits at most for events that were committed before it',
  }),
  AUDIT_POLL_INTERVAL_MS: Type.Integer({
    minimum: 10,
    default: 5_000,
    description: 'milliseconds between polls of each producer; a commit announces itself',
  }),
  AUDIT_DEAD_LETTER_AFTER_MS: Type.Integer({
    minimum: 0,
    default: 120_000,
    description:
      'milliseconds for which an event that cannot be appended because of its content holds up those of its service behind it, before it becomes a dead letter',
  }),
  AUDIT_RETENTION_DAYS: Type.Optional(
    Type.Integer({ minimum: 1, description: 'days for which events are kept; without it they are kept for ever' }),
  ),
  AUDIT_PUBLIC_URL: Type.String({
    pattern: '^(https?://.*)?$',
    default: '',
    description: 'where people find Bunting; the links in summaries begin with it',
  }),
});
export type AuditConfig = Static<typeof AuditConfig>;
