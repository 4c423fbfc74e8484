import { callForResponse, type CallContext, traceparentFrom } from '@bunting/bus';
import { SearchEvents, DeprecatedSearchEvents } from '@bunting/contracts';
import { startEmbeddedPostgres } from '@bunting/embedded-postgres';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { startPlatform } from '../../../apps/all-in-one/src/platform.ts';
import { servicesWithDatabaseSettings } from '../../../apps/all-in-one/src/services.ts';
import { type EventSearchKind, eventSearchKinds } from './event-search-kinds.ts';
import { fillEventLog, pruneOutbox } from './fill-event-log.ts';

interface EventLogBench {
  /** the numbers of events in the logs that are measured, in ascending order */
  readonly sizes: readonly number[];
  /** the folder of their databases, which is kept; a temporary folder when left out */
  readonly dataDir?: string | undefined;
  /** measures only searches whose name contains this text */
  readonly only?: string | undefined;
}

/** How many searches of one log are sent before the next log has its turn. */
const requestsPerTurn = 10;

const percentile = (durations: readonly number[], share: number): number =>
  [...durations].sort((one, other) => one - other)[
    Math.min(durations.length - 1, Math.floor(durations.length * share))
  ] ?? 0;

/** Starts a Bunting server with its own event log, and fills the log. */
const fillLog = async (events: number, folder: string) => {
  const postgres = await startEmbeddedPostgres({ dataDir: path.join(folder, 'postgres') });
  const databases = Object.fromEntries(
    servicesWithDatabaseSettings.map(({ setting, database }) => [setting, postgres.urlOf(database)]),
  );
  const platform = await startPlatform({
    ...databases,
    PORT: '0',
    BUNTING_ADMIN_TOKEN: '*:*.bench-0123456789abcdef',
  });
  const outboxUrl = postgres.urlOf('bunting_features');
  const outbox = new pg.Client({ connectionString: outboxUrl });
  const log = new pg.Client({ connectionString: databases['AUDIT_DATABASE_URL'] });
  await outbox.connect();
  await log.connect();
  const { bus } = platform.hosted;
  const context = (): CallContext => ({
    caller: { id: 1, name: 'bench', grants: [{ permission: 'ADMIN' }] },
    requestId: randomUUID(),
    traceparent: traceparentFrom(),
    timeoutMs: 60_000,
  });
  /** The bytes of a million events: of the events alone, and of all tables of the log with their indexes. */
  const diskUsage = async (): Promise<string> => {
    const treeOf = (table: string) => `pg_partition_tree('${table}') where isleaf`;
    const { rows } = await log.query<{ eventBytes: string; allBytes: string }>(`
      select (select sum(pg_table_size(relid)) from ${treeOf('event')}) as "eventBytes",
        (select sum(pg_total_relation_size(relid)) from ${treeOf('event')}) +
        (select sum(pg_total_relation_size(relid)) from ${treeOf('event_search')}) as "allBytes"`);
    const [eventBytes, allBytes] = [Number(rows[0]?.eventBytes), Number(rows[0]?.allBytes)];
    return `${(eventBytes / 1e6).toFixed(0)} MB, ${(allBytes / 1e6).toFixed(0)} MB with indexes, ${(allBytes / eventBytes).toFixed(2)} times as much`;
  };

  const perSecond = await fillEventLog(events, { outboxUrl, log, bus });
  if (perSecond !== undefined) console.log(`\n${events} events: ${perSecond} a second from the outbox into the log`);
  await pruneOutbox(outbox);
  for (const client of [outbox, log]) {
    await client.query('vacuum analyze');
    await client.query('checkpoint');
  }
  console.log(`${events} events: ${await diskUsage()}`);
  await outbox.end();
  await log.end();
  return {
    events,
    /** how many events a second arrived; undefined if the log had them already */
    perSecond,
    search: async ({ body, query }: EventSearchKind, nth: number): Promise<void> => {
      const response = await (query === undefined
        ? callForResponse(bus, DeprecatedSearchEvents, { body: body?.(nth, events) ?? {} }, context())
        : callForResponse(bus, SearchEvents, { query: query(nth, events) }, context()));
      if ('refusal' in response) throw new Error(response.refusal.error.message);
    },
    stop: async (): Promise<void> => {
      await platform.stop();
      await postgres.stop();
    },
  };
};
type FilledLog = Awaited<ReturnType<typeof fillLog>>;

/**
 * Sends the same requests to all logs, alternating between the logs. A machine that is slower for a while is slower for all of them, so
 * that their ratio stays meaningful.
 */
const measure = async (logs: readonly FilledLog[], kind: EventSearchKind): Promise<readonly number[][]> => {
  const durations = logs.map((): number[] => []);
  for (let first = 0, turn = 0; first < kind.times; first += requestsPerTurn, turn++) {
    // The order rotates, so that no log always follows the same one.
    for (let place = 0; place < logs.length; place++) {
      const logIndex = (place + turn) % logs.length;
      for (let nth = first; nth < Math.min(first + requestsPerTurn, kind.times); nth++) {
        const beganAt = performance.now();
        await logs[logIndex]?.search(kind, nth);
        durations[logIndex]?.push(performance.now() - beganAt);
      }
    }
  }
  return durations;
};

/** Measures event search and ingestion on logs of several sizes, and prints a table. */
export const benchEventLog = async ({ sizes, dataDir, only = '' }: EventLogBench): Promise<unknown> => {
  const folder = dataDir ?? mkdtempSync(path.join(os.tmpdir(), 'bunting-bench-'));
  const logs: FilledLog[] = [];
  try {
    // The largest is filled first, while no other log uses the machine.
    for (const events of sizes.toReversed()) logs.unshift(await fillLog(events, path.join(folder, String(events))));
    const [smallestLog] = logs;
    const results: unknown[] = [];
    const columns = logs.map(({ events }) => `p50 ms in ${events} | p99 ms in ${events}`).join(' | ');
    console.log(`\n| search | ${columns} | p50 to that of ${smallestLog?.events} |`);
    console.log(`| --- |${' ---: |'.repeat(2 * logs.length + 1)}`);
    for (const kind of eventSearchKinds.filter(({ name }) => name.includes(only))) {
      const durations = await measure(logs, kind);
      const figures = durations.map((times) => ({ p50: percentile(times, 0.5), p99: percentile(times, 0.99) }));
      const ratios = figures.map(({ p50 }) => p50 / (figures[0]?.p50 ?? p50));
      for (const [nth, { events, perSecond }] of logs.entries()) {
        results.push({ events, perSecond, search: kind.name, times: kind.times, ...figures[nth], ratio: ratios[nth] });
      }
      const cells = figures.map(({ p50, p99 }) => `${p50.toFixed(1)} | ${p99.toFixed(1)}`).join(' | ');
      console.log(`| ${kind.name} | ${cells} | ${ratios.at(-1)?.toFixed(2)} |`);
    }
    return results;
  } finally {
    for (const log of logs) await log.stop();
    if (dataDir === undefined) rmSync(folder, { recursive: true, force: true });
  }
};
