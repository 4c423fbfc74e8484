import type {
  Event,
  EventLogVerification,
  FoundEvents,
  Feature,
  SearchFeaturesResponse,
  ServiceName,
} from '@bunting/contracts';
import { eventually } from '@bunting/testing';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { databaseSettingOf } from '../../apps/all-in-one/src/database-setting.ts';
import { withClient } from '../../libs/testing/src/test-postgres.ts';
import type { FeedFollower } from './feed-follower.ts';
import { type LedgerEntry, hasHappened } from './writer.ts';
import {
  readSubject,
  retryingReader,
  readProject,
  flagSummary,
  isChangeRequestEvent,
  eventKey,
  type Subject,
} from './subject.ts';
import type { Cluster } from './cluster.ts';
import { consumers, producers } from './faults.ts';

/** The result of a run. It has passed if there are no violations. */
export interface Verification {
  readonly acknowledged: number;
  readonly unknown: number;
  /** how many writes of unknown outcome have happened */
  readonly happenedUnacknowledged: number;
  readonly events: number;
  /** the events that the follower of the feed has read, and the number of its interruptions */
  readonly feed: { readonly events: number; readonly interruptions: number };
  readonly violations: readonly string[];
  /** milliseconds from the end of the last fault until every projection had applied all messages */
  readonly settledAfterMs: number;
}

const settleTimeoutMs = 60_000;
const concurrency = 8;
const logPageSize = 1_000;

function rowsOf<Row>({ postgres }: Cluster, service: ServiceName, text: string): Promise<Row[]> {
  return withClient(
    postgres.urlOf(databaseSettingOf(service).database),
    async (client) => (await client.query(text)).rows as Row[],
  );
}

/** For how long a failed read is retried: on a busy machine a projection may need longer than a response waits for it, several times in a row. */
const readTimeoutMs = 60_000;
/** Reads through the first gateway. */
function readerOf(cluster: Cluster) {
  return retryingReader(cluster, ([url]) => url ?? '', readTimeoutMs);
}

async function forEachConcurrently<T>(items: readonly T[], job: (item: T) => Promise<void>): Promise<void> {
  const remaining = [...items];
  const work = async (): Promise<void> => {
    for (let item = remaining.pop(); item !== undefined; item = remaining.pop()) await job(item);
  };
  await Promise.all(Array.from({ length: concurrency }, work));
}

/** Waits until interrupted applications are complete and every consumer has applied all messages. */
async function waitUntilSettled(cluster: Cluster): Promise<number> {
  const startedAt = performance.now();
  await eventually(
    async () => {
      const unfinished = await rowsOf(
        cluster,
        'change-requests',
        'select id from change_request where applying is not null',
      );
      if (unfinished.length > 0) throw new Error(`${unfinished.length} change requests are still being applied.`);
      for (const producer of producers) {
        const emitted = await rowsOf<{ topic: string; emitted: number; unpositioned: number }>(
          cluster,
          producer,
          'select topic, count(*)::int as emitted, (count(*) filter (where position is null))::int as unpositioned from outbox group by topic',
        );
        for (const consumer of consumers) {
          const applied = await rowsOf<{ topic: string; position: number }>(
            cluster,
            consumer,
            `select topic, position::int from consumer_checkpoint where producer = '${producer}'`,
          );
          for (const { topic, position } of applied) {
            const head = emitted.find((one) => one.topic === topic);
            if (head !== undefined && (head.unpositioned !== 0 || head.emitted !== position)) {
              throw new Error(`${consumer} has applied ${position} of ${head.emitted} ${topic}s of ${producer}.`);
            }
          }
        }
      }
    },
    { timeoutMs: settleTimeoutMs },
  );
  return performance.now() - startedAt;
}

/** Reads the complete log through the API, oldest first. Nothing writes any more, so that pages do not shift. */
async function readLog(cluster: Cluster): Promise<Event[]> {
  const read = readerOf(cluster);
  const events: Event[] = [];
  for (;;) {
    const page = await read<FoundEvents>(`/api/admin/search/events?limit=${logPageSize}&offset=${events.length}`);
    events.push(...(page?.events ?? []));
    if ((page?.events.length ?? 0) < logPageSize) return events.toReversed();
  }
}

/** Reads the state that the subjects of a project share, once for each project. */
function projectReader(cluster: Cluster) {
  const cached = new Map<string, ReturnType<typeof readProject>>();
  return (project: string) => {
    const contents = cached.get(project) ?? readProject(readerOf(cluster), project);
    cached.set(project, contents);
    return contents;
  };
}
type ProjectReader = ReturnType<typeof projectReader>;

/** The flag as the search returns it. */
async function searchFlag(cluster: Cluster, project: string, name: string): Promise<Subject['flag']> {
  const find = async (archived: boolean) => {
    const query = new URLSearchParams({ project: `IS:${project}`, query: name, archived: String(archived) });
    const page = await readerOf(cluster)<SearchFeaturesResponse>(`/api/admin/search/features?${query}`);
    return page?.features.find((feature) => feature.name === name);
  };
  const active = await find(false);
  if (active === undefined) return (await find(true)) === undefined ? undefined : 'archived';
  return flagSummary(active as unknown as Feature);
}

function formatValue(value: unknown): string {
  return JSON.stringify(value);
}

/** Whether the outcome of a change request may be lost, because its database was restored to an older copy afterwards. */
function isLostByRestore({ restores }: Cluster, entries: readonly LedgerEntry[]): boolean {
  return restores.some(
    ({ service, copiedAt, restoredAt }) =>
      service === 'change-requests' &&
      entries.some(
        ({ sentAt, ms, expected }) =>
          expected.request !== undefined &&
          new Date(sentAt) <= restoredAt &&
          new Date(Date.parse(sentAt) + ms) >= copiedAt,
      ),
  );
}

function withoutRequest({ request: _, ...subject }: Subject): Subject {
  return subject;
}

interface VerificationContext {
  readonly cluster: Cluster;
  readonly readContents: ProjectReader;
  readonly report: (violation: string) => void;
}

/**
 * Verifies the writes of one subject: the state, the events, and the search result.
 * @returns whether the last write has happened although its outcome was unknown
 */
async function verifySubject(
  { cluster, readContents, report }: VerificationContext,
  subject: string,
  { entries, events }: { readonly entries: readonly LedgerEntry[]; readonly events: readonly Event[] },
): Promise<boolean> {
  const last = entries.at(-1) as LedgerEntry;
  const { project } = last;
  const lostByRestore = isLostByRestore(cluster, entries);
  /** the part of a state that the restore has not made uncertain */
  const certainPart = (state: Subject): Subject => (lostByRestore ? withoutRequest(state) : state);
  const happened = entries.filter(({ outcome }) => hasHappened(outcome));
  const before = certainPart(happened.at(-1)?.expected ?? { exists: subject !== project });
  const after = last.outcome === 'unknown' ? certainPart(last.expected) : before;
  const actual = certainPart(
    (await readSubject(readerOf(cluster), await readContents(project), project, subject)).subject,
  );
  const hasLastHappened = last.outcome === 'unknown' && isDeepStrictEqual(actual, after);
  if (!hasLastHappened && !isDeepStrictEqual(actual, before)) {
    const expected =
      last.outcome === 'unknown' ? `${formatValue(before)} or ${formatValue(after)}` : formatValue(before);
    report(
      `${subject}: after "${last.operation}" (${last.outcome}) there is ${formatValue(actual)} instead of ${expected}`,
    );
    return false;
  }
  const expectedEvents = [...happened, ...(hasLastHappened ? [last] : [])].flatMap(
    ({ events: emitsEvents }) => emitsEvents,
  );
  const loggedEvents = events.map(eventKey);
  for (const isOfService of [isChangeRequestEvent, (key: string) => !isChangeRequestEvent(key)]) {
    if (lostByRestore && isOfService === isChangeRequestEvent) continue;
    const [expectedOfService, logged] = [expectedEvents.filter(isOfService), loggedEvents.filter(isOfService)];
    if (!isDeepStrictEqual(expectedOfService, logged))
      report(`${subject}: the log says ${formatValue(logged)} instead of ${formatValue(expectedOfService)}`);
  }
  const { flag } = actual;
  const result = subject === project ? undefined : await searchFlag(cluster, project, subject);
  const expectedResult = typeof flag === 'object' ? { ...flag, titles: [] } : flag;
  if (!isDeepStrictEqual(result, expectedResult))
    report(`${subject}: the search returns ${formatValue(result)} instead of ${formatValue(expectedResult)}`);
  return hasLastHappened;
}

/** Verifies that positions have no gap, and that each event of each outbox is in the log once and in order. */
async function verifyOutboxes(cluster: Cluster, report: (violation: string) => void): Promise<void> {
  const log = await rowsOf<{ uid: string }>(cluster, 'audit', 'select uid from event order by id');
  const indexOf = new Map(log.map(({ uid }, index) => [uid, index]));
  if (indexOf.size !== log.length) report(`The log contains ${log.length - indexOf.size} duplicate events.`);
  let emitted = 0;
  for (const producer of producers) {
    const rows = await rowsOf<{ topic: string; uid: string; position: number | null }>(
      cluster,
      producer,
      'select topic, uid, position::int from outbox order by topic, position',
    );
    for (const topic of ['event', 'state', 'delivery']) {
      const positions = rows.filter((row) => row.topic === topic).map(({ position }) => Number(position));
      const gap = positions.findIndex((position, nth) => position !== nth + 1);
      if (gap >= 0) report(`The ${topic} rows of ${producer} have a gap at position ${gap + 1}.`);
    }
    let lastIndex = -1;
    for (const { uid, position } of rows.filter(({ topic }) => topic === 'event')) {
      emitted++;
      const index = indexOf.get(uid);
      if (index === undefined) report(`Event ${position} of ${producer} is not in the log.`);
      else if (index < lastIndex) report(`Event ${position} of ${producer} is in the log before an earlier one.`);
      else lastIndex = index;
    }
  }
  // Events that a restored database has lost stay in the log.
  if (log.length > emitted && cluster.restores.every(({ service }) => service === 'search'))
    report(`The log has ${log.length - emitted} events that no outbox has.`);
}

/** Verifies the hash chain of the log, in several calls if it is long. */
async function verifyChain(cluster: Cluster, report: (violation: string) => void): Promise<void> {
  let range = '';
  for (;;) {
    const result = await readerOf(cluster)<EventLogVerification>(`/api/admin/events/verify${range}`);
    if (result?.intact !== true) return report(`The chain of the log is broken: ${result?.fault?.message}`);
    if (result.complete) return;
    range = `?from=${result.checkedTo}`;
  }
}

/** Verifies that the follower has read every event of the log exactly once, in order, and with the same content. */
async function verifyFollower(
  follower: FeedFollower,
  log: readonly Event[],
  report: (violation: string) => void,
): Promise<void> {
  await follower.waitFor(log.at(-1)?.id ?? 0).catch((error: Error) => report(error.message));
  await follower.stop();
  const { events, violations } = follower.state;
  for (const violation of violations) report(violation);
  // Only the feed has hashes, which `verifyChain` verifies.
  const read = new Map(events.map(({ hash: _hash, ...event }) => [event.id, event]));
  if (read.size < events.length)
    report(`The follower of the feed has read ${events.length - read.size} events more than once.`);
  for (const [nth, { id }] of events.entries()) {
    const before = events[nth - 1]?.id ?? 0;
    if (id <= before) report(`The follower of the feed has read event ${id} after event ${before}.`);
  }
  for (const event of log) {
    const readEvent = read.get(event.id);
    if (readEvent === undefined) report(`The follower of the feed has never read event ${event.id}.`);
    else if (!isDeepStrictEqual(readEvent, event)) {
      report(
        `The follower of the feed has read event ${event.id} as ${formatValue(readEvent)} instead of ${formatValue(event)}`,
      );
    }
    read.delete(event.id);
  }
  for (const id of read.keys()) report(`The follower of the feed has read event ${id}, which is not in the log.`);
}

/** Printed by a process that cannot start because a server is unavailable. */
const isServerOutage =
  /^(No (NATS server|PostgreSQL) answers at |The (database|message bus) (is away|is read-only|cannot be reached|did not accept a connection))/;

/** Printed by each start while there is no user. */
const isFirstAdministratorLink = /^The first administrator is created, once and within an hour, at: http/;

/** The expected error while a database is read-only. */
const isReadOnlyReport = /"msg":"The database \S+ reports [^}]*\(25006\)/;

/** Unexpected output of the processes: errors, and lines that are not JSON. */
export function loggedErrors(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.log'))
    .flatMap((file) =>
      readFileSync(path.join(folder, file), 'utf8')
        .split('\n')
        .filter((line) => line !== '' && !isServerOutage.test(line) && !isFirstAdministratorLink.test(line))
        .filter(
          (line) => !line.startsWith('{') || (/"level":"(error|fatal)"/.test(line) && !isReadOnlyReport.test(line)),
        )
        .map((line) => `${file}: ${line}`),
    );
}

function requestIdOf({ data }: Event): unknown {
  return (data as { changeRequestId?: unknown } | null)?.changeRequestId;
}

/** The flag of the change request of each event, where the event has a change request. Each change request is of one flag. */
function flagsByEvent(log: readonly Event[]): Map<Event, string> {
  const flags = new Map<Event, string>();
  // Newest first: a change request is created before its first change, and its id may be reused after a restore.
  const nextFlag = new Map<unknown, string>();
  for (const event of log.toReversed()) {
    if (event.type === 'change-added' && event.featureName) nextFlag.set(requestIdOf(event), event.featureName);
    if (event.type === 'change-request-created') flags.set(event, nextFlag.get(requestIdOf(event)) ?? '');
  }
  const currentFlag = new Map<unknown, string>();
  for (const event of log) {
    if (event.type === 'change-added' && event.featureName) currentFlag.set(requestIdOf(event), event.featureName);
    if (!flags.has(event)) flags.set(event, currentFlag.get(requestIdOf(event)) ?? '');
  }
  return flags;
}

/** The events of the log by flag, or by project where they concern no flag. */
function eventsBySubject(log: readonly Event[]) {
  const flags = flagsByEvent(log);
  return Map.groupBy(log, (event) => event.featureName || flags.get(event) || event.project);
}

/** Verifies the platform, after the last fault, against the ledgers of the writers and the events of the follower. */
export async function verifyTortureRun(
  cluster: Cluster,
  ledgers: readonly (readonly LedgerEntry[])[],
  follower: FeedFollower,
): Promise<Verification> {
  const violations: string[] = [];
  const report = (violation: string): void => void violations.push(violation);
  const entries = ledgers.flat();
  const ofOutcome = (outcome: string): LedgerEntry[] => entries.filter((entry) => entry.outcome === outcome);
  const settledAfterMs = await waitUntilSettled(cluster).catch((error: Error) => {
    report(`It did not settle within ${settleTimeoutMs / 1000} s: ${error.message}`);
    return settleTimeoutMs;
  });

  for (const { subject, operation, status, error } of entries.filter(
    ({ outcome, status, error }) => outcome === 'refused' || status === 500 || error?.includes('is neither as before'),
  )) {
    report(`${subject}: "${operation}" got ${status}: ${error}`);
  }
  const log = await readLog(cluster);
  for (const [nth, { id }] of log.entries()) {
    if (nth > 0 && id <= (log[nth - 1]?.id ?? 0)) report(`Event ${id} follows event ${log[nth - 1]?.id}.`);
  }
  await verifyFollower(follower, log, report);
  await verifyChain(cluster, report);
  await verifyOutboxes(cluster, report);
  for (const consumer of consumers) {
    const letters = await rowsOf<{ reason: string }>(cluster, consumer, 'select reason from dead_letter');
    for (const { reason } of letters) report(`${consumer} has a dead letter: ${reason}`);
    const missed = await rowsOf<object>(cluster, consumer, 'select producer, topic, first, last from missed_message');
    for (const range of missed) report(`${consumer} missed ${formatValue(range)}`);
    const replays = await rowsOf<{ producer: string }>(
      cluster,
      consumer,
      'select producer, topic from consumer_checkpoint where epoch > 0',
    );
    const restored = new Set<string>(cluster.restores.map(({ service }) => service));
    for (const one of replays.filter(({ producer }) => !restored.has(producer)))
      report(`${consumer} has read the outbox again as if it had been restored: ${formatValue(one)}`);
  }
  const eventsOf = eventsBySubject(log);
  const readContents = projectReader(cluster);
  let happenedUnknown = 0;
  await forEachConcurrently([...Map.groupBy(entries, ({ subject }) => subject)], async ([subject, own]) => {
    if (
      await verifySubject({ cluster, readContents, report }, subject, {
        entries: own,
        events: eventsOf.get(subject) ?? [],
      })
    )
      happenedUnknown++;
  });
  return {
    acknowledged: ofOutcome('acknowledged').length,
    unknown: entries.filter(({ outcome }) => !['acknowledged', 'refused'].includes(outcome)).length,
    happenedUnacknowledged: happenedUnknown + ofOutcome('found').length,
    events: log.length,
    feed: { events: follower.state.events.length, interruptions: follower.state.interruptions },
    violations,
    settledAfterMs,
  };
}
