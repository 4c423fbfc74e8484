import { completeEndpoints } from '@bunting/bus';
import { openDatabase } from '@bunting/database';
import { measureDeadLetters, readDeadLettersEndpoint, startOutboxProducer } from '@bunting/outbox';
import { drainTimeoutMs, defineService } from '@bunting/runtime';
import { ChangeRequestsConfig } from './config.ts';
import { applying } from './operations/apply.ts';
import { changeRequestsEndpoints } from './operations/index.ts';
import { rolesFor } from './operations/roles.ts';
import { startRunner } from './operations/runner.ts';
import { tellingProtection } from './operations/tell-protection.ts';
import { agendaOf } from './persistence/agenda.ts';
import { changeRequestReader } from './persistence/change-request-repository.ts';
import { changeRequestEntities } from './persistence/entities.ts';
import { changeRequestMigrations } from './persistence/migrations/index.ts';
import { unitOfWork } from './persistence/unit-of-work.ts';
import { followFeatures } from './subscriptions/follow-features.ts';
import { followUsers } from './subscriptions/follow-users.ts';

/** Who proposed what, who agreed, when it applies. */
export const changeRequestsService = defineService({
  name: 'change-requests',
  config: ChangeRequestsConfig,
  start: async ({ config, bus, log, metrics, serve, onStop: atStop }) => {
    const warn = (message: string) => log.warn(message);
    const database = await openDatabase({
      url: config.CHANGE_REQUESTS_DATABASE_URL,
      name: 'change-requests',
      migrations: changeRequestMigrations,
      entities: changeRequestEntities,
      poolMax: config.CHANGE_REQUESTS_DATABASE_POOL_MAX,
      statementTimeoutMs: config.CHANGE_REQUESTS_STATEMENT_TIMEOUT_MS,
      warn,
      logError: (message) => log.error(message),
    });
    atStop('database', () => database.close());
    const telling = startOutboxProducer({
      producer: 'change-requests',
      database,
      bus,
      intervalMs: config.CHANGE_REQUESTS_RELAY_POLL_INTERVAL_MS,
      retentionHours: config.CHANGE_REQUESTS_OUTBOX_RETENTION_HOURS,
      idempotencyRetentionHours: config.CHANGE_REQUESTS_IDEMPOTENCY_RETENTION_HOURS,
      warn,
    });
    atStop('relay', () => telling.relay.stop());
    const reader = changeRequestReader(database);
    const work = unitOfWork(telling);
    const agenda = agendaOf(database);
    const apply = applying(bus, work);
    const tellProtection = tellingProtection(bus, agenda, work);
    const rolesOf = rolesFor({
      adminTokens: config.CHANGE_REQUESTS_ADMIN_TOKENS_REVIEW,
      ownOfAdmins: config.CHANGE_REQUESTS_ADMINS_REVIEW_OWN,
    });
    const isVoluntary = config.CHANGE_REQUESTS_VOLUNTARY;
    const runner = startRunner({
      bus,
      agenda,
      reader,
      work,
      apply,
      tellProtection,
      intervalMs: config.CHANGE_REQUESTS_SCHEDULE_INTERVAL_MS,
      recoveryMs: config.CHANGE_REQUESTS_RECOVERY_MS,
      warn,
    });
    atStop('scheduled changes', () => runner.stop());
    // Each commit announces itself to every replica, among them those that schedule something.
    const commits = await bus.subscribe({ producer: 'change-requests', topic: 'event' }, runner.wake);
    atStop('wake-ups of the runner', () => commits.stop());
    const logError = (message: string) => log.error(message);
    const consuming = { bus, database, intervalMs: config.CHANGE_REQUESTS_POLL_INTERVAL_MS, warn, logError };
    const features = await followFeatures({ ...consuming, onCommitted: runner.wake });
    atStop('projection of features', () => features.stop());
    const users = await followUsers({ ...consuming, onCommitted: runner.heardOfDeparture });
    atStop('projection of users', () => users.stop());
    measureDeadLetters(metrics, 'change-requests', database);
    const served = await serve(
      completeEndpoints('change-requests', [
        ...changeRequestsEndpoints({ bus, reader, work, rolesOf, isVoluntary, apply, tellProtection }),
        telling.endpoint,
        readDeadLettersEndpoint('change-requests', database),
      ]),
    );
    atStop('calls', () => served.stop(), drainTimeoutMs);
    return { ready: () => database.ready() };
  },
});
