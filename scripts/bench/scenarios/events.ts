import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import type { SearchEventsBody } from '@bunting/contracts';
import { databaseOfService, withServiceDatabases } from '../../databases/service-databases.ts';
import { startServer } from '../../server-under-test.ts';
import {
  busyCreatorOf,
  busyFlagOf,
  busyPersonOf,
  busyProjectOf,
  dayOf,
  fillEventLog,
  flagOf,
  projectOf,
  pruneOutbox,
  quietFlagOf,
  typeOf,
} from '../generated-events.ts';
import { benchFlag } from '../generated-flags.ts';
import { type BenchOptions, percentile, printRow, printTableHead, send } from '../run.ts';

/** A kind of event search, which is repeated with different values: the nth search in a log of `size` events. */
interface EventSearchKind {
  readonly name: string;
  /** 500 when left out */
  readonly times?: number;
  /** the body of `POST /api/admin/events/search` */
  readonly body?: (nth: number, size: number) => SearchEventsBody;
  /** the query of `GET /api/admin/search/events` */
  readonly query?: (nth: number, size: number) => Readonly<Record<string, string>>;
}

const defaultTimes = 500;
/** How many searches of one log are sent before the next log has its turn. */
const requestsPerTurn = 10;

/** Measures searches in 10,000 events and in the number of the options, in turns, and how fast events arrive. */
export async function benchEventLog({ events = 10_000, dataDir, only }: BenchOptions): Promise<unknown> {
  const folder = dataDir ?? mkdtempSync(path.join(os.tmpdir(), 'bunting-bench-'));
  // When root starts PostgreSQL, it runs as another user, who must be able to reach its data folder below this one.
  chmodSync(folder, 0o711);
  const logs: FilledLog[] = [];
  try {
    // The largest is filled first, while no other log uses the machine.
    for (const size of [...new Set([events, 10_000])].sort((one, other) => other - one))
      logs.unshift(await fillLog(size, path.join(folder, String(size))));
    const results: unknown[] = [];
    const columns = logs.flatMap((log) => [`p50 ms in ${log.events}`, `p99 ms in ${log.events}`]);
    printTableHead('search', ...columns, `p50 to that of ${logs[0]?.events}`);
    for (const kind of eventSearchKinds.filter(({ name }) => name.includes(only))) {
      const durations = await measureInTurns(logs, kind);
      const figures = durations.map((times) => ({ p50: percentile(times, 0.5), p99: percentile(times, 0.99) }));
      const ratio = (figures.at(-1)?.p50 ?? 0) / (figures[0]?.p50 ?? 1);
      results.push({ search: kind.name, figures, ratio });
      printRow(kind.name, ...figures.flatMap(({ p50, p99 }) => [p50.toFixed(1), p99.toFixed(1)]), ratio.toFixed(2));
    }
    return results;
  } finally {
    for (const log of logs) await log.server.stop();
    if (dataDir === undefined) rmSync(folder, { recursive: true, force: true });
  }
}

/** Starts a Bunting with an event log of its own, and fills the log. */
async function fillLog(events: number, dataDir: string) {
  const server = await startServer({ AUDIT_POLL_INTERVAL_MS: '100' }, { dataDir, keepData: true });
  await withServiceDatabases({ BUNTING_DATA_DIR: dataDir }, {}, async (databases) => {
    const [outbox, log] = (['features', 'audit'] as const).map(
      (service) => new pg.Client({ connectionString: databaseOfService(databases, service).url }),
    ) as [pg.Client, pg.Client];
    await Promise.all([outbox.connect(), log.connect()]);
    const cpuSeconds = () => [server.cpuSeconds() ?? 0, server.postgresCpuSeconds() ?? 0] as const;
    const before = cpuSeconds();
    const filled = await fillEventLog(events, outbox, log);
    if (filled !== undefined) {
      const cpu = cpuSeconds().map((seconds, nth) =>
        (((seconds - (before[nth] ?? 0)) * 1e6) / filled.arrived).toFixed(0),
      );
      console.log(
        `${events} events: ${filled.perSecond} a second from the outbox into the log, each ${cpu.join(' + ')} µs of CPU (process + PostgreSQL)`,
      );
    }
    await pruneOutbox(outbox);
    for (const client of [outbox, log]) await client.query('vacuum analyze');
    for (const client of [outbox, log]) await client.query('checkpoint');
    console.log(`${events} events: ${await diskUsage(log)}`);
    await Promise.all([outbox.end(), log.end()]);
  });
  return { events, server };
}
type FilledLog = Awaited<ReturnType<typeof fillLog>>;

/** The bytes of the events alone, and of all tables of the log with their indexes. */
async function diskUsage(log: pg.Client): Promise<string> {
  const treeOf = (table: string) => `pg_partition_tree('${table}') where isleaf`;
  const { rows } = await log.query<{ eventBytes: string; allBytes: string }>(`
    select (select sum(pg_table_size(relid)) from ${treeOf('event')}) as "eventBytes",
      (select sum(pg_total_relation_size(relid)) from ${treeOf('event')}) +
      (select sum(pg_total_relation_size(relid)) from ${treeOf('event_search')}) +
      (select sum(pg_total_relation_size(relid)) from ${treeOf('event_text')}) as "allBytes"`);
  const [eventBytes, allBytes] = [Number(rows[0]?.eventBytes), Number(rows[0]?.allBytes)];
  return `${(eventBytes / 1e6).toFixed(0)} MB, ${(allBytes / 1e6).toFixed(0)} MB with indexes, ${(allBytes / eventBytes).toFixed(2)} times as much`;
}

/** Sends the same requests to all logs in turns: a machine that is slower for a while is slower for all of them. */
async function measureInTurns(
  logs: readonly FilledLog[],
  { times = defaultTimes, body, query }: EventSearchKind,
): Promise<readonly number[][]> {
  const durations = logs.map((): number[] => []);
  for (let first = 0, turn = 0; first < times; first += requestsPerTurn, turn++) {
    // The order rotates, so that no log always follows the same one.
    for (let place = 0; place < logs.length; place++) {
      const index = (place + turn) % logs.length;
      const { server, events } = logs[index] as FilledLog;
      for (let nth = first; nth < Math.min(first + requestsPerTurn, times); nth++) {
        const { tookMs } = await (query === undefined
          ? send(server, 'POST', '/api/admin/events/search', body?.(nth, events) ?? {})
          : send(server, 'GET', `/api/admin/search/events?${new URLSearchParams(query(nth, events))}`));
        durations[index]?.push(tookMs);
      }
    }
  }
  return durations;
}

function numbersBelow(below: number): number[] {
  return Array.from({ length: below }, (_, nth) => nth);
}
const wordsOfFlags = [0, 1].flatMap((part) =>
  numbersBelow(10).map((nth) => flagOf(nth * 10 ** part).split('-')[part] ?? ''),
);

/** Texts that are in many events of any log, but in few different keys and values. Each is searched for once without a warm cache. */
const frequentTexts = [
  ...Object.keys({ ...benchFlag(0), ...benchFlag(0).strategies[0], ...benchFlag(0).strategies[0]?.constraints[0] }),
  'flexible',
  'stickiness',
  'userid',
  'platform',
  'tagged',
  'enabled',
  'archived',
  'updated',
  'impression',
  'segment',
  ,
  ...numbersBelow(16).map((nth) => busyPersonOf(nth).slice(0, 10)),
  ...numbersBelow(32).map((nth) => `rollout of ${busyFlagOf(nth)}`),
];

/**
 * Texts in thousands or tens of thousands of different keys and values, at their beginning or elsewhere. The cost of a search grows
 * with the number of these keys and values. Each text is searched for once without a warm cache.
 */
const textsOfThousands = [
  'user-',
  'ser-',
  'rollout of',
  'decides who',
  'person-',
  '@example',
  '-000',
  'or did',
  ...numbersBelow(49).map((nth) => `user-${nth + 1}`),
  ...wordsOfFlags.map((word) => `${word}-`),
  ...numbersBelow(10).map((nth) => `sees ${wordsOfFlags[nth]}`),
  ...numbersBelow(10).map((nth) => `${wordsOfFlags[10 + nth]} 00`),
];

/** Texts of one letter or two. Each is searched for once without a warm cache. */
const shortTexts = [...'aeiorstnu059-@.', ...'er ro us in at te or on 12 00 99 -0 r-'.split(' ')];

function environmentOf(nth: number): string {
  return nth % 2 === 0 ? 'production' : 'development';
}
function daysOf(nth: number, size: number): string {
  return dayOf((nth * 7919) % size);
}

/**
 * The searches of the bench. Most find a full page of a hundred events in each log, so that only the size of the log differs. The names of
 * searches that find fewer say so: quiet, rare or nowhere.
 */
const eventSearchKinds: readonly EventSearchKind[] = [
  { name: 'newest', body: () => ({}) },
  { name: 'by type', body: (nth) => ({ type: typeOf(nth) }) },
  { name: 'by project', body: (nth) => ({ project: busyProjectOf(nth) }) },
  { name: 'by feature', body: (nth) => ({ feature: busyFlagOf(nth) }) },
  { name: 'by feature, a quiet one', body: (nth) => ({ feature: quietFlagOf(nth) }) },
  { name: 'by feature, a quiet one, one row', body: (nth) => ({ feature: quietFlagOf(nth), limit: 1 }) },
  {
    name: 'by project and type',
    body: (nth) => ({ project: busyProjectOf(nth), type: 'feature-strategy-update' }),
  },
  { name: 'deep page', body: (nth, size) => ({ offset: 100 + ((nth * 7919) % (size - 100)) }) },
  { name: 'text: a flag', body: (nth) => ({ query: busyFlagOf(nth) }) },
  { name: 'text: a quiet flag, the first time', body: (nth) => ({ query: quietFlagOf(nth) }) },
  { name: 'text: a person', body: (nth) => ({ query: busyPersonOf(nth) }) },
  {
    name: 'text in a project',
    body: (nth) => ({ project: busyProjectOf(nth), query: `rollout of ${flagOf(nth % 40).split('-')[0]}` }),
  },
  { name: 'text that is nowhere', body: (nth) => ({ query: `nowhere ${nth}` }) },
  {
    name: 'frequent text, the first time',
    times: frequentTexts.length,
    body: (nth) => ({ query: frequentTexts[nth] as string }),
  },
  {
    name: 'frequent text, again',
    body: (nth) => ({ query: frequentTexts[nth % frequentTexts.length] as string }),
  },
  {
    name: 'frequent text, deep page',
    body: (nth, size) => ({
      query: frequentTexts[nth % frequentTexts.length] as string,
      offset: size / 2 + ((nth * 104729) % (size / 2)),
    }),
  },
  {
    name: 'text in thousands of names, the first time',
    times: textsOfThousands.length,
    body: (nth) => ({ query: textsOfThousands[nth] as string }),
  },
  {
    name: 'text of one letter or two, the first time',
    times: shortTexts.length,
    body: (nth) => ({ query: shortTexts[nth] as string }),
  },
  { name: 'by environment', query: (nth) => ({ environment: `IS:${environmentOf(nth)}` }) },
  { name: 'by creator', query: (nth) => ({ createdBy: `IS:${busyCreatorOf(nth)}` }) },
  {
    name: 'by day',
    query: (nth, size) => ({ from: `IS:${daysOf(nth, size)}`, to: `IS:${daysOf(nth, size)}` }),
  },
  { name: 'since a day', query: (nth, size) => ({ from: `IS:${daysOf(nth, size)}` }) },
  {
    name: 'by environment, creator, day and text',
    query: (nth, size) => ({
      environment: `IS:${environmentOf(nth)}`,
      createdBy: `IS_ANY_OF:${busyCreatorOf(nth)},${busyCreatorOf(Math.floor(nth / 16) + 5)}`,
      from: `IS:${dayOf(Math.floor((nth * 7919) % (size / 4)))}`,
      query: frequentTexts[nth % frequentTexts.length] as string,
    }),
  },
  {
    name: 'by project, feature and text, each another one',
    query: (nth) => ({
      project: `IS_ANY_OF:${projectOf(nth)},${busyProjectOf(nth * 7)}`,
      feature: `IS_ANY_OF:${quietFlagOf(nth)},${busyFlagOf(nth)}`,
      query: 'rollout',
    }),
  },
  {
    name: 'row by row, deep',
    query: (nth, size) => ({ type: `IS:${typeOf(nth)}`, offset: String((nth * 104729) % (size / 40)) }),
  },
];
