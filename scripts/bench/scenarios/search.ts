import type { SearchFeaturesResponse, StateOf } from '@bunting/contracts';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { databaseOfService, withServiceDatabases } from '../../databases/service-databases.ts';
import { startServer } from '../../server-under-test.ts';
import { benchFlag } from '../generated-flags.ts';
import { benchFeatureState, benchSegmentStates, ticketOf } from '../generated-search-states.ts';
import {
  type BenchOptions,
  environment,
  measure as measureLoad,
  percentile,
  printHead,
  printRow,
  printTableHead,
  progressOf,
  type Row,
  seedFlags,
  send,
} from '../run.ts';
import { pagedSearches, type SearchKind, searchKinds, type SearchQuery } from '../search-kinds.ts';

const rowsPerInsert = 2_500;
const warmUps = 3;
const pageReads = 30;
/** How many clients search at the same time, where rates are measured. */
const searchers = 8;
const writingMs = 10_000;
const writesPerSecond = 50;
/** The flags that change while searches are measured. */
const writtenFlags = 200;
/** The limits that the documentation promises, in milliseconds. */
const limits = { p50: 25, p99: 100, findableP99: 250 } as const;

/** The settings of a server whose features come from `projectStates`. */
export const searchSettings = {
  SEARCH_POLL_INTERVAL_MS: '20',
  SEARCH_FRESHNESS_WAIT_MS: '5000',
  SEARCH_STATEMENT_TIMEOUT_MS: '60000',
  // The features service does not have the features of the outbox: search would remove them again.
  SEARCH_RECONCILE_INTERVAL_MS: '0',
} as const;

interface Latencies {
  readonly p50: number;
  readonly p99: number;
}

function verdict(holds: boolean): string {
  return holds ? 'holds' : '**not held**';
}
function isFast({ p50, p99 }: Latencies): boolean {
  return p50 < limits.p50 && p99 < limits.p99;
}

// SQL: writes states into the outbox without a unit of work, which is faster and wakes no consumer.
const insertStates = `
  insert into outbox (topic, type, entity_key, payload)
  select 'state', row->>'entity', (row->>'entity') || ':' || (row->>'id'), row
  from json_array_elements($1::json) with ordinality as published (row, nth) order by nth`;

/**
 * Measures every filter, order and page of the search over HTTP, one request after the other, in 1,000, 10,000 and N features. The states
 * of the features come from the outbox; the features service has only those that change during the run.
 */
export async function benchSearch(options: BenchOptions): Promise<unknown> {
  const { features: most = 100_000, dataDir } = options;
  const folder = dataDir ?? mkdtempSync(path.join(os.tmpdir(), 'bunting-bench-'));
  // When root starts PostgreSQL, it runs as another user, who must be able to reach its data folder below this one.
  chmodSync(folder, 0o711);
  const sizes = dataDir === undefined ? [...[1_000, 10_000].filter((size) => size < most), most] : [most];
  const results: unknown[] = [];
  /** by kind of search: the median with the smallest number of features */
  const smallest = new Map<string, number>();
  try {
    for (const size of sizes) {
      const isLast = size === sizes.at(-1);
      results.push(await measureAt(size, isLast, smallest, path.join(folder, String(size)), options));
    }
    return results;
  } finally {
    if (dataDir === undefined) rmSync(folder, { recursive: true, force: true });
  }
}

async function measureAt(
  features: number,
  isLast: boolean,
  smallest: Map<string, number>,
  dataDir: string,
  { times, only, seconds, warmUpSeconds }: BenchOptions,
): Promise<unknown> {
  const server = await startServer(searchSettings, { dataDir, keepData: true });
  const pathOf = (query: SearchQuery): string => {
    const text = Object.entries(query).flatMap(([name, value]) =>
      [value].flat().map((one) => `${name}=${encodeURIComponent(String(one))}`),
    );
    return `/api/admin/search/features?${text.join('&')}`;
  };
  const search = (query: SearchQuery) => send<SearchFeaturesResponse>(server, 'GET', pathOf(query));
  /** Searches of several clients at the same time: how many are answered each second, and the CPU of one. */
  const measureRates = async (): Promise<readonly Row[]> => {
    const { total = 0 } = (await search({})).reply;
    const kinds: readonly SearchKind[] = [
      { name: 'rate of the first page', request: () => ({}) },
      { name: 'rate by tag', request: (nth) => ({ tag: `INCLUDE:ticket:${ticketOf(nth % features)}` }) },
      { name: 'rate by a common tag', request: (nth) => ({ tag: `INCLUDE:simple:quarter-${1 + (nth % 8)}` }) },
      { name: 'rate of the last page', request: () => ({ offset: String(Math.max(0, total - 50)) }) },
    ];
    printHead();
    const rows: Row[] = [];
    for (const { name, request } of kinds.filter((kind) => kind.name.includes(only))) {
      const measured = { name, request: (nth: number) => ({ method: 'GET', path: pathOf(request(nth, features)) }) };
      rows.push(...(await measureLoad([server], measured, { connections: searchers, seconds, warmUpSeconds })));
    }
    return rows;
  };
  const measure = async (request: (nth: number) => SearchQuery, count: number): Promise<Latencies> => {
    const durations: number[] = [];
    for (let nth = 0; nth < count; nth++) durations.push((await search(request(nth))).tookMs);
    return { p50: percentile(durations, 0.5), p99: percentile(durations, 0.99) };
  };
  const measureKind = async (kind: SearchKind): Promise<unknown> => {
    const { p50, p99 } = await measure((nth) => kind.request(nth, features), times);
    const { total = 0 } = (await search(kind.request(0, features))).reply;
    if (!smallest.has(kind.name)) smallest.set(kind.name, p50);
    const ratio = p50 / (smallest.get(kind.name) ?? p50);
    printRow(kind.name, total, p50.toFixed(1), p99.toFixed(1), ratio.toFixed(2), verdict(isFast({ p50, p99 })));
    return { search: kind.name, total, p50, p99, ratio };
  };
  const measurePage = async ({ name, request }: (typeof pagedSearches)[number]): Promise<unknown> => {
    const deep = Math.floor(features * 0.9);
    const first = await measure(() => request, pageReads);
    // The total counts archived features, too: nine tenths of it is beyond the end of the others.
    const down = await measure((nth) => ({ ...request, offset: `${deep - ((nth * 7) % 100)}` }), pageReads);
    printRow(
      `${name}, at ${deep}`,
      first.p50.toFixed(1),
      down.p50.toFixed(1),
      down.p99.toFixed(1),
      verdict(isFast(down)),
    );
    return { page: name, first, down };
  };
  /** Changes flags continuously, searches for each change as soon as it is acknowledged, and measures concurrent searches. */
  const measureWhileWriting = async (): Promise<unknown> => {
    await seedFlags(server, { count: writtenFlags, flagOf: writtenFlag });
    const findable: number[] = [];
    const lookUp = async (name: string, enabled: boolean): Promise<void> => {
      const acknowledgedAt = performance.now();
      for (;;) {
        const [found] = (await search({ query: name })).reply.features;
        if (found?.environments?.find((one) => one.name === environment)?.enabled === enabled) break;
      }
      findable.push(performance.now() - acknowledgedAt);
    };
    const meanwhile = new Map<string, number[]>(
      ['no filter', 'text: common', 'tag INCLUDE, a common one'].map((name) => [name, []]),
    );
    let isOver = false;
    const searching = (async () => {
      for (let nth = 0; !isOver; nth++) {
        for (const kind of searchKinds)
          meanwhile.get(kind.name)?.push((await search(kind.request(nth, features))).tookMs);
        await sleep(20);
      }
    })();
    const startedAt = performance.now();
    const lookUps: Promise<void>[] = [];
    for (let nth = 0; performance.now() - startedAt < writingMs; nth++) {
      const { name } = writtenFlag(nth % writtenFlags);
      const enabled = Math.floor(nth / writtenFlags) % 2 === (nth % 2 === 0 ? 1 : 0);
      const flag = `/api/admin/projects/default/features/${name}/environments/${environment}`;
      await send(server, 'POST', `${flag}/${enabled ? 'on' : 'off'}`);
      lookUps.push(lookUp(name, enabled));
      await sleep(Math.max(0, startedAt + ((nth + 1) * 1_000) / writesPerSecond - performance.now()));
    }
    isOver = true;
    await Promise.all([...lookUps, searching]);
    const perSecond = findable.length / (writingMs / 1_000);
    printTableHead(`while ${perSecond.toFixed(0)} features change each second, of ${features}`, 'p50 ms', 'p99 ms', '');
    const rows = [['from its reply until it is found', findable] as const, ...meanwhile];
    for (const [nth, [name, durations]] of rows.entries()) {
      const [p50, p99] = [percentile(durations, 0.5), percentile(durations, 0.99)];
      printRow(name, p50.toFixed(1), p99.toFixed(1), nth === 0 ? verdict(p99 < limits.findableP99) : '');
    }
    return { perSecond, findable: { p50: percentile(findable, 0.5), p99: percentile(findable, 0.99) } };
  };

  try {
    const projectedSeconds = await projectStates(features, dataDir);
    console.log(
      `${features} features found after ${projectedSeconds.toFixed(1)} s, ${server.residentMb()} MB resident`,
    );
    // The first calls are slower, before code is compiled and caches are warm.
    for (let nth = 0; nth < warmUps; nth++)
      for (const { request } of searchKinds) await search(request(2_000 + nth, features));
    printTableHead(`search in ${features} features`, 'finds', 'p50 ms', 'p99 ms', 'p50 to that of the fewest', '');
    const kinds = [];
    for (const kind of searchKinds.filter(({ name }) => name.includes(only))) kinds.push(await measureKind(kind));
    if (!isLast) return { features, projectedSeconds, kinds };
    const rates = await measureRates();
    if (only !== '') return { features, projectedSeconds, kinds, rates };
    printTableHead(`page of ${features} features, by`, 'first, p50 ms', 'p50 ms', 'p99 ms', '');
    const pages = [];
    for (const page of pagedSearches) pages.push(await measurePage(page));
    return { features, projectedSeconds, kinds, rates, pages, whileWriting: await measureWhileWriting() };
  } finally {
    await server.stop();
  }
}

/** A flag that no generated state has. */
function writtenFlag(nth: number) {
  const flag = benchFlag(nth);
  return { ...flag, name: `written-${flag.name}` };
}

/** Puts the states of features into the outbox, unless it has them, and waits until search has applied them. @returns the seconds */
export function projectStates(
  features: number,
  dataDir: string,
  stateOf: (nth: number) => StateOf<'feature'> = (nth) => benchFeatureState(nth),
): Promise<number> {
  return withServiceDatabases({ BUNTING_DATA_DIR: dataDir }, {}, async (databases) => {
    const [outbox, documents] = (['features', 'search'] as const).map(
      (service) => new pg.Client({ connectionString: databaseOfService(databases, service).url }),
    ) as [pg.Client, pg.Client];
    await Promise.all([outbox.connect(), documents.connect()]);
    const numberIn = async (client: pg.Client, statement: string): Promise<number> =>
      Number((await client.query<{ number: string }>(statement)).rows[0]?.number ?? 0);
    const startedAt = performance.now();
    const insert = (states: readonly unknown[]) => outbox.query(insertStates, [JSON.stringify(states)]);
    let published = await numberIn(outbox, `select count(*) as number from outbox where type = 'feature'`);
    if (published === 0) await insert(benchSegmentStates());
    for (; published < features; published += rowsPerInsert) {
      const length = Math.min(rowsPerInsert, features - published);
      const first = published;
      await insert(Array.from({ length }, (_, nth) => stateOf(first + nth)));
    }
    const total = await numberIn(outbox, `select count(*) as number from outbox where topic = 'state'`);
    const applied = `select position as number from consumer_checkpoint where producer = 'features'`;
    const progress = progressOf(total, 'states');
    for (let position = 0; position < total; position = await numberIn(documents, applied)) {
      progress.to(position);
      await sleep(100);
    }
    progress.end();
    await documents.query('vacuum analyze');
    await Promise.all([outbox.end(), documents.end()]);
    return (performance.now() - startedAt) / 1_000;
  });
}
