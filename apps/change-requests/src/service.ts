import { requireAllEndpoints } from '@bunting/bus';
import { migrateDatabase, openDatabase } from '@bunting/database';
import { readDeadLettersEndpoint, startOutboxProducer } from '@bunting/outbox';
import { defineService, drainTimeoutMs } from '@bunting/runtime';
import { ChangeRequestsConfig } from './config.ts';
import { changeRequestsEndpoints } from './endpoints.ts';
import { changeRequestMigrations } from './migrations/index.ts';
import { protectionSync } from './protection/endpoints.ts';
import { changeRequestReader } from './requests/request-read-store.ts';
import { reserveChangeIdsBy } from './requests/request-store.ts';
import { approvalsRecheck } from './reviews/endpoints.ts';
import { requestRolesByPolicy } from './reviews/request-roles.ts';
import { registerScheduleMetrics, startDueJobsLoop } from './schedules/background.ts';
import { dueJobsReader } from './schedules/schedule-store.ts';
import { consumeFeatureEvents, consumeUserEvents } from './schedules/subscriptions.ts';
import { applyRequest } from './states/endpoints.ts';
import { changeRequestEntities } from './unit-of-work/entities.ts';
import { unitOfWork } from './unit-of-work/unit-of-work.ts';

/** Change requests: proposals, reviews and schedules. */
export const changeRequestsService = defineService({
  name: 'change-requests',
  config: ChangeRequestsConfig,
  migrate: (config) =>
    migrateDatabase({
      url: config.CHANGE_REQUESTS_DATABASE_URL,
      name: 'change-requests',
      migrations: changeRequestMigrations,
    }),
  start: async ({ config, bus, log, metrics, serve, onStop }) => {
    const database = await openDatabase({
      url: config.CHANGE_REQUESTS_DATABASE_URL,
      name: 'change-requests',
      migrations: changeRequestMigrations,
      entities: changeRequestEntities,
      poolMax: config.CHANGE_REQUESTS_DATABASE_POOL_MAX,
      statementTimeoutMs: config.CHANGE_REQUESTS_STATEMENT_TIMEOUT_MS,
      metrics,
      log,
    });
    onStop('database', () => database.close());
    const outboxProducer = startOutboxProducer({
      producer: 'change-requests',
      metrics,
      database,
      bus,
      intervalMs: config.CHANGE_REQUESTS_RELAY_POLL_INTERVAL_MS,
      retentionHours: config.CHANGE_REQUESTS_OUTBOX_RETENTION_HOURS,
      idempotencyRetentionHours: config.CHANGE_REQUESTS_IDEMPOTENCY_RETENTION_HOURS,
      log,
    });
    onStop('outbox', () => outboxProducer.stop());
    const reader = changeRequestReader(database);
    const transaction = unitOfWork(outboxProducer);
    const dueJobs = dueJobsReader(database);
    const syncProtection = protectionSync(bus, dueJobs, transaction);
    const rolesOf = requestRolesByPolicy({
      adminTokens: config.CHANGE_REQUESTS_ADMIN_TOKENS_REVIEW,
      ownOfAdmins: config.CHANGE_REQUESTS_ADMINS_REVIEW_OWN,
    });
    const recheckApprovals = approvalsRecheck({ bus, reader, transaction, rolesOf });
    const apply = applyRequest({ bus, reader, transaction, recheckApprovals });
    const backgroundJobs = startDueJobsLoop({
      bus,
      dueJobs,
      reader,
      transaction,
      apply,
      rolesOf,
      recheckApprovals,
      syncProtection,
      intervalMs: config.CHANGE_REQUESTS_SCHEDULE_INTERVAL_MS,
      recoveryTimeoutMs: config.CHANGE_REQUESTS_RECOVERY_MS,
      onScheduledBegin: registerScheduleMetrics(metrics, dueJobs),
      log,
    });
    onStop('background jobs', () => backgroundJobs.stop());
    // A commit of any replica may schedule a request or protect an environment.
    const commits = await bus.subscribe({ producer: 'change-requests', topic: 'event' }, backgroundJobs.wake);
    onStop('wake-ups of the background jobs', () => commits.stop());
    const consuming = { bus, database, intervalMs: config.CHANGE_REQUESTS_POLL_INTERVAL_MS, metrics, log };
    const features = await consumeFeatureEvents({ ...consuming, onCommitted: backgroundJobs.wake });
    onStop('projection of features', () => features.stop());
    const users = await consumeUserEvents({ ...consuming, onCommitted: backgroundJobs.usersChanged });
    onStop('projection of users', () => users.stop());
    const served = await serve(
      requireAllEndpoints('change-requests', [
        ...changeRequestsEndpoints({
          bus,
          reader,
          newChangeIds: reserveChangeIdsBy(database.query),
          transaction,
          rolesOf,
          allowsVoluntaryRequests: config.CHANGE_REQUESTS_VOLUNTARY,
          apply,
          recheckApprovals,
          syncProtection,
        }),
        outboxProducer.endpoint,
        readDeadLettersEndpoint('change-requests', database),
      ]),
    );
    onStop('calls', () => served.stop(), drainTimeoutMs);
    return { ready: () => database.ready() };
  },
});
