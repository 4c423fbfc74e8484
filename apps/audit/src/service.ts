import { openDatabase } from '@bunting/database';
import { inboxTables } from '@bunting/outbox';
import { defineService } from '@bunting/runtime';
import { AuditConfig } from './config.ts';
import { searchEventsEndpoint } from './operations/events/search-events.ts';
import { eventSearch } from './persistence/event-search.ts';
import { eventTables } from './persistence/tables.ts';
import { startRecording } from './subscriptions/record-event.ts';

/** What happened, in order, for ever. */
export const auditService = defineService({
  name: 'audit',
  config: AuditConfig,
  start: async ({ config, bus, log, serve }) => {
    const warn = (message: string) => log.warn(message);
    const database = await openDatabase({
      url: config.AUDIT_DATABASE_URL,
      name: 'audit',
      steps: [eventTables, inboxTables],
      poolSize: config.AUDIT_DATABASE_POOL_SIZE,
      statementTimeoutMs: config.AUDIT_STATEMENT_TIMEOUT_MS,
      warn,
    });
    try {
      const recording = await startRecording({ bus, database, intervalMs: config.AUDIT_POLL_INTERVAL_MS, warn });
      const served = await serve([
        searchEventsEndpoint({
          search: eventSearch(database),
          caughtUp: recording.caughtUp,
          freshnessWaitMs: config.AUDIT_FRESHNESS_WAIT_MS,
          publicUrl: config.AUDIT_PUBLIC_URL.replace(/\/+$/, ''),
        }),
      ]);
      return {
        ready: async () => {
          bus.ready();
          await database.ping();
        },
        stop: async () => {
          await served.stop();
          await recording.stop();
          await database.close();
        },
      };
    } catch (error) {
      await database.close();
      throw error;
    }
  },
});
