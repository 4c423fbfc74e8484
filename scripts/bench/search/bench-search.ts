import { callForResponse, type CallContext, serve, traceparentFrom } from '@bunting/bus';
import { SearchFeatures, type SearchFeaturesResponse, type StateOf } from '@bunting/contracts';
import { openDatabase } from '@bunting/database';
import { startEmbeddedPostgres } from '@bunting/embedded-postgres';
import { outboxTables, startOutboxProducer } from '@bunting/outbox';
import { host, openLog } from '@bunting/runtime';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { searchService } from '../../../apps/search/src/service.ts';
import { type SearchQuery, pagedSearches, type SearchKind, searchKinds } from './search-kinds.ts';
import { benchFeatureState, benchSegmentStates } from './generated-search-states.ts';

interface SearchBench {
  /** the numbers of features with which search is measured one after the other, in ascending order */
  readonly sizes: readonly number[];
  /** how often each kind of search is sent */
  readonly times: number;
  /** for how many milliseconds features change while searches are measured */
  readonly writingMs: number;
  /** measures only searches whose name contains this text */
  readonly only: string;
  /** the folder of the databases, which is kept; a temporary folder when left out */
  readonly dataDir?: string | undefined;
}

const rowsPerInsert = 2_500;
const warmUps = 3;
const writesPerSecond = 50;

/** The limits that the documentation promises, in milliseconds unless the name has another unit. */
const limits = {
  p50: 25,
  p99: 100,
  findableP99: 250,
  rebuildSeconds: 120,
  memoryGrowthMb: 64,
} as const;

const percentile = (durations: readonly number[], share: number): number =>
  [...durations].sort((a, b) => a - b)[Math.min(durations.length - 1, Math.floor(durations.length * share))] ?? 0;

const verdict = (holds: boolean): string => (holds ? 'holds' : '**not held**');
const ms = (duration: number): string => duration.toFixed(1);
const line = (...cells: readonly string[]): void => console.log(`| ${cells.join(' | ')} |`);

// SQL: writes states into the outbox without a unit of work, which is faster and wakes no consumer.
const insertStates = `
  insert into outbox (topic, type, entity_key, payload)
  select 'state', row->>'entity', (row->>'entity') || ':' || (row->>'id'), row
  from json_array_elements($1::json) with ordinality as published (row, nth) order by nth`;

type Latencies = { readonly p50: number; readonly p99: number };

const isFast = ({ p50, p99 }: Latencies): boolean => p50 < limits.p50 && p99 < limits.p99;

/**
 * Measures the operation of the search service, as the gateway calls it: from the call on the bus to the whole response, one
 * call after the other. The documents come from an outbox, as from the features service. HTTP is not involved.
 */
export const benchSearch = async ({ sizes, times, writingMs, only, dataDir }: SearchBench): Promise<unknown> => {
  const folder = dataDir ?? mkdtempSync(path.join(os.tmpdir(), 'bunting-bench-'));
  const postgres = await startEmbeddedPostgres({ dataDir: path.join(folder, 'postgres') });
  const outbox = await openDatabase({
    url: postgres.urlOf('bunting_features'),
    name: 'bench',
    migrations: [outboxTables],
  });
  const results: unknown[] = [];
  /** by kind of search: the median with the smallest number of features */
  const smallestP50 = new Map<string, number>();
  const published = `select count(*) as features from outbox where type = 'feature'`;
  let publishedFeatures =
    (await outbox.read<{ features: number }>({ name: 'published', text: published }))[0]?.features ?? 0;

  const insertIntoOutbox = async (states: readonly StateOf<'feature' | 'segment'>[]): Promise<void> => {
    await outbox.transaction(({ query }) => query(insertStates, [JSON.stringify(states)]));
  };
  const fill = async (upTo: number): Promise<number> => {
    if (publishedFeatures === 0) await insertIntoOutbox(benchSegmentStates());
    for (; publishedFeatures < upTo;) {
      const batch = Math.min(rowsPerInsert, upTo - publishedFeatures);
      await insertIntoOutbox(Array.from({ length: batch }, (_, index) => benchFeatureState(publishedFeatures + index)));
      publishedFeatures += batch;
    }
    const head = await outbox.transaction(async ({ query }) => {
      const [row] = await query<{ head: number }>(`select outbox_head('state') as head`);
      await query(`update outbox_topic set published = position`);
      return row?.head ?? 0;
    });
    return head;
  };

  const measureAt = async (features: number, isLast: boolean): Promise<void> => {
    const head = await fill(features);
    const url = postgres.urlOf(`bunting_search_${features}`);
    const runningHost = await host([searchService], {
      environment: { SEARCH_DATABASE_URL: url, SEARCH_FRESHNESS_WAIT_MS: '5000', SEARCH_STATEMENT_TIMEOUT_MS: '60000' },
      // There is no features service to reconcile with, which search warns of every minute.
      log: openLog('error'),
    });
    const producer = startOutboxProducer({
      producer: 'features',
      database: outbox,
      bus: runningHost.bus,
      intervalMs: 200,
      retentionHours: 1,
      metrics: undefined,
      log: openLog('silent'),
    });
    const subscription = await serve(runningHost.bus, [producer.endpoint]);
    const documents = new pg.Client({ connectionString: url });
    await documents.connect();

    const context = (): CallContext => ({
      caller: { id: 1, name: 'bench', grants: [{ permission: 'ADMIN' }] },
      requestId: randomUUID(),
      traceparent: traceparentFrom(),
      timeoutMs: 60_000,
    });
    const search = async (query: SearchQuery): Promise<{ json: string; tookMs: number }> => {
      const startedAt = performance.now();
      const response = await callForResponse(runningHost.bus, SearchFeatures, { query }, context());
      const tookMs = performance.now() - startedAt;
      if ('refusal' in response) throw new Error(response.refusal.error.message);
      if (response.reply.headers['Bunting-Stale'] !== undefined) throw new Error('Search was behind.');
      return { json: response.reply.json, tookMs };
    };
    const measure = async (request: (nth: number) => SearchQuery, count: number): Promise<Latencies> => {
      const durations: number[] = [];
      for (let nth = 0; nth < count; nth++) durations.push((await search(request(nth))).tookMs);
      return { p50: percentile(durations, 0.5), p99: percentile(durations, 0.99) };
    };

    /** Waits until all states are projected. Memory is that of this process, which runs the search service and the producer. */
    const rebuild = async (): Promise<void> => {
      const [stored] = (await documents.query<{ position: string }>('select position from consumer_checkpoint')).rows;
      if (Number(stored?.position ?? 0) >= head) return;
      const startedAt = performance.now();
      const maxMemoryMb: [number, number] = [0, 0];
      for (let applied = 0; applied < head;) {
        await sleep(100);
        const { rows } = await documents.query<{ position: string }>('select position from consumer_checkpoint');
        applied = Number(rows[0]?.position ?? 0);
        const index = 2 * applied < head ? 0 : 1;
        maxMemoryMb[index] = Math.max(maxMemoryMb[index], process.memoryUsage.rss() / 2 ** 20);
        process.stderr.write(`\r${applied} of ${head} states `);
      }
      process.stderr.write('\r');
      const seconds = (performance.now() - startedAt) / 1_000;
      const holds = seconds < limits.rebuildSeconds && maxMemoryMb[1] - maxMemoryMb[0] < limits.memoryGrowthMb;
      results.push({ features, rebuildSeconds: seconds, memoryMb: maxMemoryMb });
      console.log(
        `\n${features} features found again from nothing in ${seconds.toFixed(1)} s` +
          ` (${maxMemoryMb[0].toFixed(0)} MB resident at most in the first half, ${maxMemoryMb[1].toFixed(0)} MB in the second): ${verdict(holds)}`,
      );
    };

    const measureKind = async (kind: SearchKind): Promise<void> => {
      const { p50, p99 } = await measure((nth) => kind.request(nth, features), times);
      const { total } = JSON.parse((await search(kind.request(0, features))).json) as SearchFeaturesResponse;
      if (!smallestP50.has(kind.name)) smallestP50.set(kind.name, p50);
      const ratio = p50 / (smallestP50.get(kind.name) ?? p50);
      const holds = isFast({ p50, p99 });
      results.push({ features, search: kind.name, total, p50, p99, ratio, holds });
      line(kind.name, String(total), ms(p50), ms(p99), ratio.toFixed(2), verdict(holds));
    };

    const measurePages = async (): Promise<void> => {
      const deep = Math.floor(features * 0.9);
      console.log(`\n| page of ${features} features, by | first, p50 ms | at ${deep}, p50 ms | p99 ms | |`);
      console.log('| --- | ---: | ---: | ---: | --- |');
      for (const { name, request } of pagedSearches) {
        const first = await measure(() => request, 30);
        // The total counts archived features, too: nine tenths of it is beyond the end of the others.
        const deepPage = await measure((nth) => ({ ...request, offset: `${deep - ((nth * 7) % 100)}` }), 30);
        results.push({ features, page: name, first, down: deepPage });
        line(name, ms(first.p50), ms(deepPage.p50), ms(deepPage.p99), verdict(isFast(deepPage)));
      }
    };

    /** Writes features continuously, searches for each change as soon as it is committed, and measures concurrent searches. */
    const measureWhileWriting = async (): Promise<void> => {
      const findable: number[] = [];
      const lookups: Promise<void>[] = [];
      const startedAt = performance.now();
      let isOver = false;
      const searchesMeanwhile = new Map<string, number[]>(
        ['no filter', 'text: common', 'tag INCLUDE, a common one'].map((name) => [name, []]),
      );
      const searchLoop = (async () => {
        for (let nth = 0; !isOver; nth++) {
          for (const [name, durations] of searchesMeanwhile) {
            const kind = searchKinds.find((candidate) => candidate.name === name);
            if (kind !== undefined) durations.push((await search(kind.request(nth, features))).tookMs);
          }
          await sleep(20);
        }
      })();
      for (let nth = 0; performance.now() - startedAt < writingMs; nth++) {
        const published = benchFeatureState((nth * 7_919) % features, 1 + Math.floor((nth * 7_919) / features));
        await producer.work(null, async (_tx, { emitState }) => emitState(published));
        const committedAt = performance.now();
        const expectedText = `"name":"development","type":"development","enabled":${published.state?.environments[0]?.enabled}`;
        const archived = published.state?.archivedAt === null ? 'false' : 'true';
        const waitUntilFound = async (): Promise<void> => {
          for (;;) {
            const { json } = await search({ query: published.id, archived });
            if (json.includes(expectedText)) break;
          }
          findable.push(performance.now() - committedAt);
        };
        lookups.push(waitUntilFound());
        await sleep(Math.max(0, startedAt + ((nth + 1) * 1_000) / writesPerSecond - performance.now()));
      }
      isOver = true;
      await Promise.all([...lookups, searchLoop]);
      const perSecond = findable.length / (writingMs / 1_000);
      console.log(
        `\n| while ${perSecond.toFixed(0)} features change each second, of ${features} | p50 ms | p99 ms | |`,
      );
      console.log('| --- | ---: | ---: | --- |');
      const [p50, p99] = [percentile(findable, 0.5), percentile(findable, 0.99)];
      results.push({ features, perSecond, findable: { p50, p99 } });
      line('from its commit until it is found', ms(p50), ms(p99), verdict(p99 < limits.findableP99));
      for (const [name, durations] of searchesMeanwhile)
        line(name, ms(percentile(durations, 0.5)), ms(percentile(durations, 0.99)), '');
    };

    try {
      await rebuild();
      await documents.query('vacuum analyze');
      // The first calls are slower, before code is compiled and caches are warm.
      for (let nth = 0; nth < warmUps; nth++)
        for (const { request } of searchKinds) await search(request(2_000 + nth, features));
      console.log(`\n| search in ${features} features | finds | p50 ms | p99 ms | p50 to that of ${sizes[0]} | |`);
      console.log('| --- | ---: | ---: | ---: | ---: | --- |');
      for (const kind of searchKinds.filter(({ name }) => name.includes(only))) await measureKind(kind);
      if (isLast) await measurePages();
      if (isLast) await measureWhileWriting();
    } finally {
      await documents.end();
      await subscription.stop();
      await producer.stop();
      await runningHost.stop();
    }
  };

  try {
    for (const size of sizes) await measureAt(size, size === sizes.at(-1));
    return results;
  } finally {
    await outbox.close();
    await postgres.stop();
    if (dataDir === undefined) rmSync(folder, { recursive: true, force: true });
  }
};
