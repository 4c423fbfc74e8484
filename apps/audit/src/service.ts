import { completeEndpoints } from '@bunting/bus';
import { migrateDatabase, openDatabase } from '@bunting/database';
import { deadLetters, consumerTables, measureDeadLetters, missedMessages } from '@bunting/outbox';
import { drainTimeoutMs, defineService } from '@bunting/runtime';
import pLimit from 'p-limit';
import { AuditConfig } from './config.ts';
import { startHousekeeping } from './housekeeping.ts';
import { measurePrunedUnreadEvents } from './pruned-unread-events-metric.ts';
import { eventPages, waitUntilFresh } from './operations/events/read-event-page.ts';
import { feedEventsEndpoint } from './operations/events/feed-events.ts';
import { searchEventsEndpoint } from './operations/events/search-events.ts';
import { getEventLogSizeEndpoint } from './operations/events/get-event-log-size.ts';
import { getProjectActivityEndpoint } from './operations/events/get-project-activity.ts';
import { collectDeadLettersEndpoint } from './operations/events/collect-dead-letters.ts';
import { listEventCreatorsEndpoint } from './operations/events/list-event-creators.ts';
import { listEventsEndpoint } from './operations/events/list-events.ts';
import { listEventsOfFeatureEndpoint } from './operations/events/list-events-of-feature.ts';
import { deprecatedSearchEventsEndpoint } from './operations/events/deprecated-search-events.ts';
import { verifyEventLogEndpoint } from './operations/events/verify-event-log.ts';
import { verifyChain } from './persistence/log/verify-chain.ts';
import { eventCreators } from './persistence/statistics/event-creators.ts';
import { eventFeed } from './persistence/search/event-feed.ts';
import { eventSearch } from './persistence/search/event-search.ts';
import { logSize } from './persistence/log/log-size.ts';
import { projectActivity } from './persistence/statistics/project-activity.ts';
import { dropExpiredEvents } from './persistence/log/retention.ts';
import { logMigrations, textIndexMaintenance } from './persistence/tables.ts';
import { consumeEvents } from './subscriptions/consume-events.ts';

/** How often the pending list of the text index is merged. */
const mergingEveryMs = 2_000;
/** How often expired events are dropped. */
const droppingEveryMs = 60_000;
const dayMs = 24 * 60 * 60 * 1_000;

/** The event log. */
export const auditService = defineService({
  name: 'audit',
  config: AuditConfig,
  migrate: (config) =>
    migrateDatabase({ url: config.AUDIT_DATABASE_URL, name: 'audit', migrations: [...logMigrations, consumerTables] }),
  start: async ({ config, bus, log, metrics, serve, onStop }) => {
    const warn = (message: string) => log.warn(message);
    const logError = (message: string) => log.error(message);
    const database = await openDatabase({
      url: config.AUDIT_DATABASE_URL,
      name: 'audit',
      migrations: [...logMigrations, consumerTables],
      poolMax: config.AUDIT_DATABASE_POOL_MAX,
      statementTimeoutMs: config.AUDIT_STATEMENT_TIMEOUT_MS,
      metrics,
      warn,
      logError,
    });
    onStop('database', () => database.close());
    const intervalMs = config.AUDIT_POLL_INTERVAL_MS;
    const deadLetterAfterMs = config.AUDIT_DEAD_LETTER_AFTER_MS;
    const texts = textIndexMaintenance(database);
    const { appended } = texts;
    const consumption = await consumeEvents({
      bus,
      database,
      intervalMs,
      deadLetterAfterMs,
      onAppended: appended,
      metrics,
      warn,
      logError,
    });
    onStop('consumption of events', () => consumption.stop());
    measurePrunedUnreadEvents(metrics, () => missedMessages(database));
    measureDeadLetters(metrics, 'audit', database);
    const ownDeadLetters = () => deadLetters(database);
    const checkAlone = pLimit(1);
    const freshness = { catchUp: consumption.catchUp, freshnessWaitMs: config.AUDIT_FRESHNESS_WAIT_MS };
    const publicUrl = config.AUDIT_PUBLIC_URL.replace(/\/+$/, '');
    const answer = eventPages({ ...freshness, search: eventSearch(database), publicUrl });
    const served = await serve(
      completeEndpoints('audit', [
        deprecatedSearchEventsEndpoint(answer),
        searchEventsEndpoint(answer),
        listEventsEndpoint(answer),
        listEventsOfFeatureEndpoint(answer),
        listEventCreatorsEndpoint(waitUntilFresh(freshness), eventCreators(database)),
        feedEventsEndpoint(waitUntilFresh(freshness), eventFeed(database), publicUrl),
        getProjectActivityEndpoint(waitUntilFresh(freshness), projectActivity(database)),
        getEventLogSizeEndpoint(() => logSize(database), config.AUDIT_RETENTION_DAYS),
        verifyEventLogEndpoint(
          (options) => checkAlone(() => verifyChain(database, options)),
          () => missedMessages(database),
          ownDeadLetters,
        ),
        collectDeadLettersEndpoint(bus, ownDeadLetters),
      ]),
    );
    onStop('calls', () => served.stop(), drainTimeoutMs);
    const tasks = [{ name: 'Merging texts into the index', step: texts.merge, everyMs: mergingEveryMs }];
    const days = config.AUDIT_RETENTION_DAYS;
    if (days !== undefined) {
      const step = () => dropExpiredEvents(database, new Date(Date.now() - days * dayMs));
      tasks.push({ name: 'Dropping old events', step, everyMs: droppingEveryMs });
    }
    const housekeeping = startHousekeeping(tasks, warn);
    onStop('housekeeping', () => housekeeping.stop());
    return { ready: () => database.ready() };
  },
});
