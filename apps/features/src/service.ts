import { requireAllEndpoints } from '@bunting/bus';
import { migrateDatabase, openDatabase, openReadReplica } from '@bunting/database';
import { startOutboxProducer } from '@bunting/outbox';
import { drainTimeoutMs, defineService } from '@bunting/runtime';
import { FeaturesConfig } from './config.ts';
import { startBackgroundJobs } from './housekeeping/background.ts';
import { featuresContext } from './context.ts';
import { featuresEndpoints } from './endpoints.ts';
import { applicationBudget } from './usage/endpoints.ts';
import { entities } from './unit-of-work/entities.ts';
import { currentFeatureSql } from './unit-of-work/feature-sql.ts';
import { featuresMigrations } from './migrations/index.ts';
import { createReaders } from './unit-of-work/readers.ts';
import { unitOfWork } from './unit-of-work/unit-of-work.ts';

/** The features service: features, projects, environments, segments, the catalogue of tags and types, and usage. */
export const featuresService = defineService({
  name: 'features',
  config: FeaturesConfig,
  migrate: (config) =>
    migrateDatabase({ url: config.FEATURES_DATABASE_URL, name: 'features', migrations: featuresMigrations }),
  start: async ({ config, bus, log, metrics, serve, onStop }) => {
    const allowsRegex = config.FEATURES_ALLOW_REGEX;
    const database = await openDatabase({
      url: config.FEATURES_DATABASE_URL,
      name: 'features',
      migrations: featuresMigrations,
      entities,
      poolMax: config.FEATURES_DATABASE_POOL_MAX,
      statementTimeoutMs: config.FEATURES_STATEMENT_TIMEOUT_MS,
      metrics,
      log,
    });
    onStop('database', () => database.close());
    const replica =
      config.FEATURES_READ_DATABASE_URL === undefined
        ? undefined
        : openReadReplica({
            url: config.FEATURES_READ_DATABASE_URL,
            primary: database,
            name: 'features',
            poolMax: config.FEATURES_DATABASE_POOL_MAX,
            statementTimeoutMs: config.FEATURES_STATEMENT_TIMEOUT_MS,
            metrics,
            log,
          });
    if (replica !== undefined) onStop('read replica', () => replica.close());
    const outboxProducer = startOutboxProducer({
      producer: 'features',
      metrics,
      database,
      bus,
      currentStates: { feature: currentFeatureSql },
      intervalMs: config.FEATURES_RELAY_POLL_INTERVAL_MS,
      retentionHours: config.FEATURES_OUTBOX_RETENTION_HOURS,
      idempotencyRetentionHours: config.FEATURES_IDEMPOTENCY_RETENTION_HOURS,
      log,
    });
    onStop('outbox', () => outboxProducer.stop());
    let runDeferred: Parameters<typeof unitOfWork>[2] = () => Promise.resolve();
    const transaction = unitOfWork(outboxProducer, { allowsRegex }, (deferred) => runDeferred(deferred));
    const budget = applicationBudget({
      limit: config.FEATURES_MAX_APPLICATIONS,
      perMinute: config.FEATURES_MAX_NEW_APPLICATIONS_PER_MINUTE,
      registry: metrics,
      log,
    });
    const context = featuresContext({
      transaction,
      bus,
      applicationBudget: budget,
      readers: createReaders(replica ?? database, { allowsRegex }),
      allowsRegex,
      instanceFeatureLimit: config.FEATURES_MAX_FEATURES,
      maxProjects: config.FEATURES_MAX_PROJECTS,
      maxSegments: config.FEATURES_MAX_SEGMENTS,
      maxListsBytes: config.FEATURES_MAX_SEGMENT_LISTS_MIB * 1024 * 1024,
    });
    const backgroundJobs = startBackgroundJobs(transaction, {
      intervalMs: config.FEATURES_HOUSEKEEPING_INTERVAL_MS,
      applicationDays: config.FEATURES_APPLICATION_RETENTION_DAYS,
      submitImportProposal: context.submitImportProposal,
      bus,
      log,
    });
    runDeferred = backgroundJobs.runDeferred;
    onStop('housekeeping', () => backgroundJobs.stop());
    const endpoints = [...featuresEndpoints(context), outboxProducer.endpoint];
    const served = await serve(requireAllEndpoints('features', endpoints));
    onStop('calls', () => served.stop(), drainTimeoutMs);
    return { ready: () => database.ready() };
  },
});
