import { requireAllEndpoints } from '@bunting/bus';
import type { Producer } from '@bunting/contracts';
import { migrateDatabase, openDatabase } from '@bunting/database';
import { startOutboxProducer } from '@bunting/outbox';
import { ConfigError, defineService, drainTimeoutMs, type Logger, startLoop } from '@bunting/runtime';
import { actionReader, signalQueue } from './actions/action-store.ts';
import { startActions } from './actions/background.ts';
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
import { startMailer } from './mail/background.ts';
import { mailStore } from './mail/mail-store.ts';
import { unsubscribeLinks } from './mail/unsubscribe-links.ts';
import { integrationsMigrations } from './migrations/index.ts';
import { type AllowedAddresses, allowedAddresses } from './sending/addresses.ts';
import { httpClient } from './sending/http-client.ts';
import { mailTransport, withMail } from './sending/mail-transport.ts';
import { reviewMessages, startSlackInteractions } from './slack/background.ts';
import { slackApi, withSlackAt } from './slack/slack-api.ts';
import { slackStore } from './slack/slack-store.ts';
import { signalReader } from './signals/signal-store.ts';
import { secretCipher } from './unit-of-work/secrets.ts';
import { unitOfWork } from './unit-of-work/unit-of-work.ts';

/** Everything whose events are in the log. */
const producers: readonly Producer[] = ['features', 'change-requests', 'gateway', 'integrations'];

/** The longest time that a timer takes. */
const maxTimerMs = 2 ** 31 - 1;

/** How long a stop waits beyond the time-out of an attempt. */
const stopMarginMs = 5_000;
/** How long a stop waits for actions, which take at most 10 seconds each. */
const actionsStopMs = 15_000;

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

/** What signs the links in mails to people; undefined where none are sent, which the log says if they seem to be meant. */
function linksInMails(config: Config, log: Pick<Logger, 'warn'>) {
  const { SMTP_URL: url, INTEGRATIONS_PUBLIC_URL: publicUrl, INTEGRATIONS_SECRET_KEY: secretKey } = config;
  if (url === undefined) return undefined;
  if (publicUrl !== '' && secretKey !== undefined) return unsubscribeLinks(secretKey);
  const missing = publicUrl === '' ? 'INTEGRATIONS_PUBLIC_URL' : 'INTEGRATIONS_SECRET_KEY';
  log.warn(`Notifications are not mailed, although SMTP_URL is set: links in mails need ${missing}.`);
  return undefined;
}

/** The connections to the mail server; undefined without one. */
async function configuredTransport({ SMTP_URL: url, SMTP_FROM: from, ...config }: Config) {
  if (url === undefined) return undefined;
  const host = URL.parse(config.INTEGRATIONS_PUBLIC_URL)?.hostname ?? 'localhost';
  return mailTransport({ url, from, host, timeoutMs: config.INTEGRATIONS_TIMEOUT_MS });
}

/** Integrations: the events of the log, delivered to addresses of other systems. */
export const integrationsService = defineService({
  name: 'integrations',
  config: IntegrationsConfig,
  settingPrefixes: ['SMTP_'],
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
    onStop('connections to destinations', () => client.close());
    const transport = await configuredTransport(config);
    onStop('connections to the mail server', async () => transport?.close());
    const send = withMail(withSlackAt(client.send, config.INTEGRATIONS_SLACK_URL), transport);
    const slack = slackApi(send, config.INTEGRATIONS_SLACK_URL);
    const mailHour = config.INTEGRATIONS_MAIL_HOUR;
    const transaction = unitOfWork(outboxProducer, cipher);
    const now = () => new Date();
    const marks = logMarkStore(database);
    const schedule = retrySchedule(config.INTEGRATIONS_RETRY_SECONDS);
    const slackMessages = slackStore(database);
    const messages = reviewMessages({ bus, store: slackMessages, slack, publicUrl, timeoutMs, now });
    const interactions = startSlackInteractions({
      bus,
      reader,
      store: slackMessages,
      slack,
      messages,
      publicUrl,
      timeoutMs,
      intervalMs: config.INTEGRATIONS_POLL_INTERVAL_MS,
      log,
    });
    onStop('buttons in Slack', () => interactions.stop(), timeoutMs + stopMarginMs);
    const delivery = startDelivery({
      bus,
      reader,
      store: deliveryStore(database),
      marks,
      transaction,
      attempt: messages.attempt(attemptBy(send, publicUrl, now)),
      mailTurn: transport?.turn,
      mailHour,
      timeoutMs,
      leaseMs: config.INTEGRATIONS_LEASE_MS,
      schedule,
      intervalMs: config.INTEGRATIONS_POLL_INTERVAL_MS,
      metrics,
      log,
    });
    onStop('delivery', () => delivery.stop(), timeoutMs + stopMarginMs);
    const links = linksInMails(config, log);
    let mailer: ReturnType<typeof startMailer> | undefined;
    if (links !== undefined && transport !== undefined) {
      const intervalMs = config.INTEGRATIONS_POLL_INTERVAL_MS;
      const store = mailStore(database);
      mailer = startMailer({ bus, store, transport, links, publicUrl, timeoutMs, schedule, intervalMs, metrics, log });
      onStop('mail', () => mailer?.stop() ?? Promise.resolve(), timeoutMs + stopMarginMs);
    }
    const inbox = startInbox({
      bus,
      store: inboxStore(database, mailer && { hour: mailHour }),
      onTold: () => mailer?.wake(),
      marks,
      intervalMs: config.INTEGRATIONS_POLL_INTERVAL_MS,
      metrics,
      log,
    });
    onStop('inbox', () => inbox.stop());
    const actions = startActions({
      bus,
      queue: signalQueue(database),
      transaction,
      leaseMs: config.INTEGRATIONS_LEASE_MS,
      intervalMs: config.INTEGRATIONS_POLL_INTERVAL_MS,
      metrics,
      log,
    });
    onStop('actions', () => actions.stop(), actionsStopMs);
    // Under load several commits share a look at the log, as in a projection: each makes the log take what was committed until then.
    const commits = startLoop({
      name: 'Waking those who follow the event log',
      intervalMs: maxTimerMs,
      minIntervalMs: 200,
      burst: 25,
      burstWindowMs: 500,
      log,
      run: async () => {
        delivery.wake();
        inbox.wake();
      },
    });
    onStop('wake-ups by commits', () => commits.stop());
    for (const producer of producers) {
      const subscription = await bus.subscribe({ producer, topic: 'event' }, commits.wake);
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
          hasMailServer: transport !== undefined,
          mailHour,
          unsubscribeLinks: links,
          sendTest: messageSender(send, publicUrl, now).event,
          wake: delivery.wake,
          signals: signalReader(database),
          signalLimits: {
            endpoints: config.INTEGRATIONS_MAX_SIGNAL_ENDPOINTS,
            tokens: config.INTEGRATIONS_MAX_SIGNAL_TOKENS,
            perMinute: config.INTEGRATIONS_MAX_SIGNALS_PER_MINUTE,
          },
          wakeActions: actions.wake,
          actions: actionReader(database),
          maxActionSets: config.INTEGRATIONS_MAX_ACTION_SETS,
          publicUrl,
          slack: slackMessages,
          wakeSlack: interactions.wake,
        }),
        outboxProducer.endpoint,
      ]),
    );
    onStop('calls', () => served.stop(), drainTimeoutMs);
    return { ready: () => database.ready() };
  },
});
