import { requireAllEndpoints } from '@bunting/bus';
import { migrateDatabase, openDatabase } from '@bunting/database';
import { listPrunedUnreadMessages, waitUntilFresh } from '@bunting/outbox';
import { defineService, drainTimeoutMs } from '@bunting/runtime';
import { AuditConfig } from './config.ts';
import { auditEndpoints } from './endpoints.ts';
import {
  type HousekeepingTask,
  registerMissedEventsMetric,
  startHousekeeping,
  textIndexing,
} from './log/background.ts';
import { dropOldestExpiredBatch } from './log/retention-store.ts';
import { consumeEvents } from './log/subscriptions.ts';
import { auditMigrations } from './migrations/index.ts';

/** How often events are looked for that a replica of the version before has appended. */
const unindexedIntervalMs = 60_000;
/** How often expired events are dropped. */
const retentionIntervalMs = 60_000;
const dayMs = 24 * 60 * 60 * 1_000;

/** The event log. */
export const auditService = defineService({
  name: 'audit',
  config: AuditConfig,
  migrate: (config) => migrateDatabase({ url: config.AUDIT_DATABASE_URL, name: 'audit', migrations: auditMigrations }),
  start: async ({ config, bus, log, metrics, serve, onStop }) => {
    const database = await openDatabase({
      url: config.AUDIT_DATABASE_URL,
      name: 'audit',
      migrations: auditMigrations,
      poolMax: config.AUDIT_DATABASE_POOL_MAX,
      statementTimeoutMs: config.AUDIT_STATEMENT_TIMEOUT_MS,
      metrics,
      log,
    });
    onStop('database', () => database.close());
    const intervalMs = config.AUDIT_POLL_INTERVAL_MS;
    const deadLetterAfterMs = config.AUDIT_DEAD_LETTER_AFTER_MS;
    const eventConsumer = await consumeEvents({ bus, database, intervalMs, deadLetterAfterMs, metrics, log });
    onStop('consumer of events', () => eventConsumer.stop());
    registerMissedEventsMetric(metrics, () => listPrunedUnreadMessages(database));
    const freshnessWaitMs = config.AUDIT_FRESHNESS_WAIT_MS;
    const served = await serve(
      requireAllEndpoints(
        'audit',
        auditEndpoints({
          bus,
          database,
          waitUntilFresh: waitUntilFresh({ catchUp: eventConsumer.catchUp, freshnessWaitMs }),
          retentionDays: config.AUDIT_RETENTION_DAYS,
          publicUrl: config.AUDIT_PUBLIC_URL.replace(/\/+$/, ''),
        }),
      ),
    );
    onStop('calls', () => served.stop(), drainTimeoutMs);
    const tasks: HousekeepingTask[] = [
      { name: 'Indexing texts of events', step: textIndexing(database, log), everyMs: unindexedIntervalMs },
    ];
    const days = config.AUDIT_RETENTION_DAYS;
    if (days !== undefined) {
      const step = (now: Date) => dropOldestExpiredBatch(database, new Date(now.getTime() - days * dayMs));
      tasks.push({ name: 'Dropping old events', step, everyMs: retentionIntervalMs });
    }
    const housekeeping = startHousekeeping(tasks, log);
    onStop('housekeeping', () => housekeeping.stop());
    return { ready: () => database.ready() };
  },
});
