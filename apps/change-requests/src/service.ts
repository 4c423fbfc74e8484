import { endpoints } from '@bunting/bus';
import { openDatabase } from '@bunting/database';
import { outboxTables, startTelling } from '@bunting/outbox';
import { defineService } from '@bunting/runtime';
import { ChangeRequestsConfig } from './config.ts';
import { addChangesEndpoint } from './operations/change-requests/add-changes.ts';
import { listPendingChangeRequestsEndpoint } from './operations/change-requests/list-pending-change-requests.ts';
import { changeRequestReader } from './persistence/change-request-repository.ts';
import { entities } from './persistence/entities.ts';
import { changeRequestTables } from './persistence/migrations/tables.ts';
import { unitOfWork } from './persistence/unit-of-work.ts';

/** Who proposed what, who agreed, when it applies. */
export const changeRequestsService = defineService({
  name: 'change-requests',
  config: ChangeRequestsConfig,
  start: async ({ config, bus, log, serve }) => {
    const warn = (message: string) => log.warn(message);
    const database = await openDatabase({
      url: config.CHANGE_REQUESTS_DATABASE_URL,
      name: 'change-requests',
      steps: [changeRequestTables, outboxTables],
      entities,
      poolSize: config.CHANGE_REQUESTS_DATABASE_POOL_SIZE,
      statementTimeoutMs: config.CHANGE_REQUESTS_STATEMENT_TIMEOUT_MS,
      warn,
    });
    const telling = startTelling({
      producer: 'change-requests',
      database,
      bus,
      intervalMs: config.CHANGE_REQUESTS_RELAY_INTERVAL_MS,
      retentionHours: config.CHANGE_REQUESTS_OUTBOX_RETENTION_HOURS,
      warn,
    });
    const reader = changeRequestReader(database);
    const served = await serve([
      ...endpoints(
        addChangesEndpoint(bus, reader, unitOfWork(telling)),
        listPendingChangeRequestsEndpoint(bus, reader),
      ),
      telling.endpoint,
    ]);
    return {
      ready: async () => {
        bus.ready();
        await database.ping();
      },
      stop: async () => {
        await served.stop();
        await telling.relay.stop();
        await database.close();
      },
    };
  },
});
