import { completeEndpoints } from '@bunting/bus';
import { openDatabase } from '@bunting/database';
import { startOutboxProducer } from '@bunting/outbox';
import { drainTimeoutMs, defineService } from '@bunting/runtime';
import { FeaturesConfig } from './config.ts';
import { startHousekeeping } from './housekeeping/housekeeping.ts';
import { featuresContext } from './operations/context.ts';
import { featuresEndpoints } from './operations/index.ts';
import { applicationLimits } from './operations/usage/application-limits.ts';
import { entities } from './persistence/entities.ts';
import { steps } from './persistence/migrations/index.ts';
import { readersOf } from './persistence/readers.ts';
import { unitOfWork } from './persistence/unit-of-work.ts';

/** What a feature is and how it may change. */
export const featuresService = defineService({
  name: 'features',
  config: FeaturesConfig,
  start: async ({ config, bus, log, metrics, serve, onStop: atStop }) => {
    const warn = (message: string) => log.warn(message);
    const database = await openDatabase({
      url: config.FEATURES_DATABASE_URL,
      name: 'features',
      migrations: steps,
      entities,
      poolMax: config.FEATURES_DATABASE_POOL_MAX,
      statementTimeoutMs: config.FEATURES_STATEMENT_TIMEOUT_MS,
      warn,
      logError: (message) => log.error(message),
    });
    atStop('database', () => database.close());
    const telling = startOutboxProducer({
      producer: 'features',
      database,
      bus,
      intervalMs: config.FEATURES_RELAY_POLL_INTERVAL_MS,
      retentionHours: config.FEATURES_OUTBOX_RETENTION_HOURS,
      idempotencyRetentionHours: config.FEATURES_IDEMPOTENCY_RETENTION_HOURS,
      warn,
    });
    atStop('relay', () => telling.relay.stop());
    const transaction = unitOfWork(telling);
    const limits = applicationLimits({
      limit: config.FEATURES_APPLICATIONS_LIMIT,
      perMinute: config.FEATURES_NEW_APPLICATIONS_PER_MINUTE,
      ...{ registry: metrics, warn },
    });
    const context = featuresContext({
      ...{ transaction, bus, limits },
      readers: readersOf(database),
      featureLimit: config.FEATURES_LIMIT,
      cacheCharacters: config.FEATURES_SDK_ANSWERS_MIB * 1024 * 1024,
    });
    const intervalMs = config.FEATURES_HOUSEKEEPING_INTERVAL_MS;
    const applicationDays = config.FEATURES_APPLICATION_DAYS;
    const housekeeping = startHousekeeping(transaction, {
      intervalMs,
      applicationDays,
      submitImportProposal: context.submitImportProposal,
      warn,
    });
    atStop('housekeeping', () => housekeeping.stop());
    const endpoints = featuresEndpoints(context);
    const served = await serve(completeEndpoints('features', [...endpoints, telling.endpoint]));
    atStop('calls', () => served.stop(), drainTimeoutMs);
    return { ready: () => database.ready() };
  },
});
