import { completeEndpoints } from '@bunting/bus';
import { migrateDatabase, openDatabase } from '@bunting/database';
import { deadLetters, inboxTables, measureDeadLetters, missedMessages } from '@bunting/outbox';
import { drainTimeoutMs, defineService } from '@bunting/runtime';
import pLimit from 'p-limit';
import { AuditConfig } from './config.ts';
import { keepHouse } from './housekeeping.ts';
import { measureMissedEvents } from './missed-events-metric.ts';
import { eventPages, waitUntilFresh } from './operations/events/event-pages.ts';
import { feedEventsEndpoint } from './operations/events/feed-events.ts';
import { searchEventsEndpoint } from './operations/events/search-events.ts';
import { getEventLogSizeEndpoint } from './operations/events/get-event-log-size.ts';
import { countEventsOfProjectsEndpoint } from './operations/events/count-events-of-projects.ts';
import { listDeadLettersEndpoint } from './operations/events/list-dead-letters.ts';
import { listEventCreatorsEndpoint } from './operations/events/list-event-creators.ts';
import { listEventsEndpoint } from './operations/events/list-events.ts';
import { listEventsOfFeatureEndpoint } from './operations/events/list-events-of-feature.ts';
import { deprecatedSearchEventsEndpoint } from './operations/events/deprecated-search-events.ts';
import { verifyEventsEndpoint } from './operations/events/verify-events.ts';
import { verifyChain } from './persistence/log/verify-chain.ts';
import { eventCreators } from './persistence/statistics/event-creators.ts';
import { eventFeed } from './persistence/search/event-feed.ts';
import { eventSearch } from './persistence/search/event-search.ts';
import { logSize } from './persistence/log/log-size.ts';
import { projectActivity } from './persistence/statistics/project-activity.ts';
import { dropOldest } from './persistence/log/retention.ts';
import { logMigrations, textIndexMaintenance } from './persistence/tables.ts';
import { startRecording } from './subscriptions/consume-events.ts';

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
    migrateDatabase({ url: config.AUDIT_DATABASE_URL, name: 'audit', migrations: [...logMigrations, inboxTables] }),
  start: async ({ config, bus, log, metrics, serve, onStop }) => {
    const warn = (message: string) => log.warn(message);
    const logError = (message: string) => log.error(message);
    const database = await openDatabase({
      url: config.AUDIT_DATABASE_URL,
      name: 'audit',
      migrations: [...logMigrations, inboxTables],
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
    const recording = await startRecording({
      ...{ bus, database, intervalMs, deadLetterAfterMs },
      ...{ onAppended: appended, metrics, warn, logError },
    });
    onStop('event recording', () => recording.stop());
    measureMissedEvents(metrics, () => missedMessages(database));
    measureDeadLetters(metrics, 'audit', database);
    const ownDeadLetters = () => deadLetters(database);
    const checkAlone = pLimit(1);
    const fresh = { catchUp: recording.catchUp, freshnessWaitMs: config.AUDIT_FRESHNESS_WAIT_MS };
    const publicUrl = config.AUDIT_PUBLIC_URL.replace(/\/+$/, '');
    const answer = eventPages({ ...fresh, search: eventSearch(database), publicUrl });
    const served = await serve(
      completeEndpoints('audit', [
        deprecatedSearchEventsEndpoint(answer),
        searchEventsEndpoint(answer),
        listEventsEndpoint(answer),
        listEventsOfFeatureEndpoint(answer),
        listEventCreatorsEndpoint(waitUntilFresh(fresh), eventCreators(database)),
        feedEventsEndpoint(waitUntilFresh(fresh), eventFeed(database), publicUrl),
        countEventsOfProjectsEndpoint(waitUntilFresh(fresh), projectActivity(database)),
        getEventLogSizeEndpoint(() => logSize(database), config.AUDIT_RETENTION_DAYS),
        verifyEventsEndpoint(
          (options) => checkAlone(() => verifyChain(database, options)),
          () => missedMessages(database),
          ownDeadLetters,
        ),
        listDeadLettersEndpoint(bus, ownDeadLetters),
      ]),
    );
    onStop('calls', () => served.stop(), drainTimeoutMs);
    const chores = [{ name: 'Merging texts into the index', step: texts.merge, everyMs: mergingEveryMs }];
    const days = config.AUDIT_RETENTION_DAYS;
    if (days !== undefined) {
      const step = () => dropOldest(database, new Date(Date.now() - days * dayMs));
      chores.push({ name: 'Dropping old events', step, everyMs: droppingEveryMs });
    }
    const housekeeping = keepHouse(chores, warn);
    onStop('housekeeping', () => housekeeping.stop());
    return { ready: () => database.ready() };
  },
});
