import { requireAllEndpoints } from '@bunting/bus';
import type { Producer } from '@bunting/contracts';
import { migrateDatabase, openDatabase } from '@bunting/database';
import { startOutboxProducer } from '@bunting/outbox';
import { ConfigError, defineService, drainTimeoutMs } from '@bunting/runtime';
import { integrationReader } from './addons/addon-store.ts';
import { type IntegrationsConfig as Config, IntegrationsConfig } from './config.ts';
import { attemptBy, messageSender } from './delivery/attempt.ts';
import { logMarkStore } from './delivery/log-mark-store.ts';
import { startDelivery } from './delivery/background.ts';
import { deliveryReader, deliveryStore } from './delivery/delivery-store.ts';
import { retrySchedule } from './delivery/retry.ts';
import { integrationsEndpoints } from './endpoints.ts';
import { startInbox } from './inbox/background.ts';
import { inboxReader, inboxStore } from './inbox/inbox-store.ts';
import { integrationsMigrations } from './migrations/index.ts';
import { type AllowedAddresses, allowedAddresses } from './sending/addresses.ts';
import { httpClient } from './sending/http-client.ts';
import { signalReader } from './signals/signal-store.ts';
import { secretCipher } from './unit-of-work/secrets.ts';
import { unitOfWork } from './unit-of-work/unit-of-work.ts';

/** Everything whose events are in the log. */
const producers: readonly Producer[] = ['features', 'change-requests', 'gateway', 'integrations'];

/** How long a stop waits beyond the time-out of an attempt. */
const stopMarginMs = 5_000;

function parseAllowedHosts(setting: string): AllowedAddresses {
  try {
    return allowedAddresses(setting);
  } catch (error) {
    throw new ConfigError(`INTEGRATIONS_ALLOWED_HOSTS has an invalid network: ${(error as Error).message}`);
  }
}

function requireLeaseLongerThanAttempt({
  INTEGRATIONS_LEASE_MS: lease,
  INTEGRATIONS_TIMEOUT_MS: timeout,
}: Config): void {
  if (lease >= 2 * timeout) return;
  throw new ConfigError('INTEGRATIONS_LEASE_MS must be at least twice INTEGRATIONS_TIMEOUT_MS.');
}

/** Integrations: the events of the log, delivered to addresses of other systems. */
export const integrationsService = defineService({
  name: 'integrations',
  config: IntegrationsConfig,
  migrate: (config) =>
    migrateDatabase({
      url: config.INTEGRATIONS_DATABASE_URL,
      name: 'integrations',
      migrations: integrationsMigrations,
    }),
  start: async ({ config, bus, log, metrics, serve, onStop }) => {
    const allowed = parseAllowedHosts(config.INTEGRATIONS_ALLOWED_HOSTS);
    requireLeaseLongerThanAttempt(config);
    const timeoutMs = config.INTEGRATIONS_TIMEOUT_MS;
    const publicUrl = config.INTEGRATIONS_PUBLIC_URL.replace(/\/+$/, '');
    const database = await openDatabase({
      url: config.INTEGRATIONS_DATABASE_URL,
      name: 'integrations',
      migrations: integrationsMigrations,
      poolMax: config.INTEGRATIONS_DATABASE_POOL_MAX,
      statementTimeoutMs: config.INTEGRATIONS_STATEMENT_TIMEOUT_MS,
      metrics,
      log,
    });
    onStop('database', () => database.close());
    const cipher = secretCipher(config.INTEGRATIONS_SECRET_KEY);
    const reader = integrationReader(database, cipher);
    // The rest of the platform works without the key, and integrations can be deleted.
    await reader.requireKey().catch((error: unknown) => log.error((error as Error).message));
    const outboxProducer = startOutboxProducer({
      producer: 'integrations',
      metrics,
      database,
      bus,
      intervalMs: config.INTEGRATIONS_RELAY_POLL_INTERVAL_MS,
      retentionHours: config.INTEGRATIONS_OUTBOX_RETENTION_HOURS,
      idempotencyRetentionHours: config.INTEGRATIONS_IDEMPOTENCY_RETENTION_HOURS,
      log,
    });
    onStop('outbox', () => outboxProducer.stop());
    const client = httpClient({ allowed, timeoutMs });
    onStop('connections to destinations', async () => client.close());
    const transaction = unitOfWork(outboxProducer, cipher);
    const now = () => new Date();
    const marks = logMarkStore(database);
    const delivery = startDelivery({
      bus,
      reader,
      store: deliveryStore(database),
      marks,
      transaction,
      attempt: attemptBy(client.send, publicUrl, now),
      timeoutMs,
      leaseMs: config.INTEGRATIONS_LEASE_MS,
      schedule: retrySchedule(config.INTEGRATIONS_RETRY_SECONDS),
      intervalMs: config.INTEGRATIONS_POLL_INTERVAL_MS,
      metrics,
      log,
    });
    onStop('delivery', () => delivery.stop(), timeoutMs + stopMarginMs);
    const inbox = startInbox({
      bus,
      store: inboxStore(database),
      marks,
      intervalMs: config.INTEGRATIONS_POLL_INTERVAL_MS,
      metrics,
      log,
    });
    onStop('inbox', () => inbox.stop());
    const wakeAll = (): void => {
      delivery.wake();
      inbox.wake();
    };
    for (const producer of producers) {
      const subscription = await bus.subscribe({ producer, topic: 'event' }, wakeAll);
      onStop(`wake-ups of ${producer}`, () => subscription.stop());
    }
    const served = await serve(
      requireAllEndpoints('integrations', [
        ...integrationsEndpoints({
          bus,
          reader,
          deliveries: deliveryReader(database),
          inbox: inboxReader(database),
          transaction,
          allowed,
          maxAddons: config.INTEGRATIONS_MAX_ADDONS,
          sendTest: messageSender(client.send, publicUrl, now),
          wake: delivery.wake,
          signals: signalReader(database),
          signalLimits: {
            endpoints: config.INTEGRATIONS_MAX_SIGNAL_ENDPOINTS,
            tokens: config.INTEGRATIONS_MAX_SIGNAL_TOKENS,
            perMinute: config.INTEGRATIONS_MAX_SIGNALS_PER_MINUTE,
          },
        }),
        outboxProducer.endpoint,
      ]),
    );
    onStop('calls', () => served.stop(), drainTimeoutMs);
    return { ready: () => database.ready() };
  },
});
