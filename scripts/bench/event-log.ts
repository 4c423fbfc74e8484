import { type Ask, callForAnswer, type CallContext, traceparentFrom } from '@bunting/bus';
import { FindEvents, SearchEvents, type SearchEventsBody } from '@bunting/contracts';
import { startEmbeddedPostgres } from '@bunting/embedded-postgres';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { startPlatform } from '../../apps/all-in-one/src/platform.ts';
import { benchEvent, flagOf, personOf, projectOf } from './events.ts';

export interface EventLogBench {
  /** how many events the log has when it is measured, one after the other */
  readonly sizes: readonly number[];
  /** where the database is, and stays; a temporary one when left out */
  readonly dataDir?: string | undefined;
}

const perInsert = 2_500;
/** How far the outbox may be ahead of the log while events are told. */
const mostAhead = 10_000;
const longestIndexingMs = 30 * 60_000;

const insertEvents = `
  insert into outbox (topic, type, payload)
  select 'event', row->>'type', row from json_array_elements($1::json) with ordinality as told (row, nth) order by nth`;

const percentile = (taken: readonly number[], share: number): number =>
  [...taken].sort((one, other) => one - other)[Math.min(taken.length - 1, Math.floor(taken.length * share))] ?? 0;

interface Kind {
  readonly name: string;
  readonly times: number;
  /** what `POST /api/admin/events/search` is sent */
  readonly body?: (nth: number, size: number) => SearchEventsBody;
  /** what `GET /api/admin/search/events` is asked */
  readonly query?: (nth: number, size: number) => Ask<typeof FindEvents>['query'];
}

/** Texts that many events hold, each to be looked for for the first time. */
const frequentTexts = [
  ...['rollout', 'flexible', 'stickiness', 'feature-', 'strategy', 'environment', 'person-', '@example', 'segment'],
  ...[
    'parameters',
    'constraints',
    'contextname',
    'userid',
    'checkout',
    'redesign',
    'simple:team',
    'platform',
    'tagged',
  ],
  ...[
    'enabled',
    'disabled',
    'archived',
    'decides who',
    'groupid',
    'default',
    'inverted',
    'user-1',
    'of billing',
    'cart-',
  ],
];

const environmentOf = (nth: number): string => (nth % 2 === 0 ? 'production' : 'development');
const dayOf = (nth: number): string => benchEvent(nth).createdAt.slice(0, 10);

const kinds: readonly Kind[] = [
  { name: 'newest', times: 300, body: () => ({}) },
  { name: 'by type', times: 300, body: (nth) => ({ type: benchEvent(nth).type }) },
  { name: 'by project', times: 300, body: (nth) => ({ project: projectOf(nth) }) },
  { name: 'by feature', times: 300, body: (nth) => ({ feature: flagOf(nth * 37) }) },
  { name: 'by feature, one row', times: 300, body: (nth) => ({ feature: flagOf(nth * 37), limit: 1 }) },
  { name: 'by project and type', times: 300, body: (nth) => ({ project: projectOf(nth), type: benchEvent(nth).type }) },
  { name: 'deep page', times: 300, body: (nth, size) => ({ offset: 1 + ((nth * 7919) % size) }) },
  { name: 'text: a flag', times: 300, body: (nth) => ({ query: flagOf(nth * 41) }) },
  { name: 'text: a person', times: 150, body: (nth) => ({ query: personOf(nth) }) },
  {
    name: 'text in a project',
    times: 150,
    body: (nth) => ({ project: projectOf(nth), query: `rollout of ${flagOf(nth * 3).slice(0, 9)}` }),
  },
  { name: 'text that is nowhere', times: 150, body: (nth) => ({ query: `nowhere ${nth}` }) },
  {
    name: 'frequent text, the first time',
    times: frequentTexts.length,
    body: (nth) => ({ query: frequentTexts[nth] as string }),
  },
  {
    name: 'frequent text, again',
    times: 300,
    body: (nth) => ({ query: frequentTexts[nth % frequentTexts.length] as string }),
  },
  {
    name: 'frequent text, deep page',
    times: 300,
    body: (nth, size) => ({
      query: frequentTexts[nth % frequentTexts.length] as string,
      offset: 1 + ((nth * 104729) % size),
    }),
  },
  { name: 'by environment', times: 150, query: (nth) => ({ environment: `IS:${environmentOf(nth)}` }) },
  { name: 'by creator', times: 150, query: (nth) => ({ createdBy: `IS:${1 + nth}` }) },
  {
    name: 'by day',
    times: 150,
    query: (nth, size) => ({ from: `IS:${dayOf((nth * 7919) % size)}`, to: `IS:${dayOf((nth * 7919) % size)}` }),
  },
  { name: 'since a day', times: 150, query: (nth, size) => ({ from: `IS:${dayOf((nth * 7919) % size)}` }) },
  {
    name: 'by environment, creator, day and text',
    times: 150,
    query: (nth, size) => ({
      environment: `IS:${environmentOf(nth)}`,
      createdBy: `IS_ANY_OF:${1 + nth},${50 + nth}`,
      from: `IS:${dayOf((nth * 7919) % size)}`,
      query: frequentTexts[nth % frequentTexts.length] as string,
    }),
  },
  {
    name: 'row by row, deep',
    times: 150,
    query: (nth, size) => ({ type: `IS:${benchEvent(nth).type}`, offset: String((nth * 104729) % (size / 20)) }),
  },
];

/** Measures event search and ingestion on logs of several sizes, one request after the other, and prints a table. */
export const benchEventLog = async ({ sizes, dataDir }: EventLogBench): Promise<unknown> => {
  const folder = dataDir ?? mkdtempSync(path.join(os.tmpdir(), 'bunting-bench-'));
  const postgres = await startEmbeddedPostgres({ dataDir: path.join(folder, 'postgres') });
  const databases = Object.fromEntries(
    ['features', 'change_requests', 'audit', 'search', 'gateway'].map((name) => [
      `${name.toUpperCase()}_DATABASE_URL`,
      postgres.urlOf(`bunting_${name}`),
    ]),
  );
  const platform = await startPlatform(
    { ...databases, PORT: '0', BUNTING_ADMIN_TOKEN: '*:*.bench-0123456789abcdef' },
    folder,
  );
  const outbox = new pg.Client({ connectionString: databases['FEATURES_DATABASE_URL'] });
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
  const size = async () => Number((await log.query<{ id: string }>('select id from event_log_head')).rows[0]?.id ?? 0);

  const fill = async (upTo: number): Promise<number | undefined> => {
    const from = await size();
    if (from >= upTo) return undefined;
    const beganAt = performance.now();
    let told = from;
    let shownAt = 0;
    for (let stored = from; stored < upTo; stored = await size()) {
      if (performance.now() - shownAt > 1_000) {
        shownAt = performance.now();
        process.stderr.write(`\r${stored} of ${upTo} events`);
      }
      if (told >= upTo || told - stored > mostAhead) {
        await sleep(20);
        continue;
      }
      const events = Array.from({ length: Math.min(perInsert, upTo - told) }, (_, nth) => benchEvent(told + nth));
      await outbox.query(insertEvents, [JSON.stringify(events)]);
      told += events.length;
    }
    process.stderr.write('\r');
    return Math.round((upTo - from) / ((performance.now() - beganAt) / 1_000));
  };

  const search = ({ body, query }: Kind, nth: number, events: number) =>
    query === undefined
      ? callForAnswer(bus, SearchEvents, { body: body?.(nth, events) ?? {} }, context())
      : callForAnswer(bus, FindEvents, { query: query(nth, events) }, context());

  /** Waits until the log is indexed but for its last block, as it is unless somebody fills it as fast as it goes. */
  const indexed = async (): Promise<void> => {
    const beganAt = performance.now();
    const left = `select head.id - indexed_to as left from event_log_head as head, event_term_head`;
    while (Number((await log.query<{ left: string }>(left)).rows[0]?.left) >= 2_048) {
      if (performance.now() - beganAt > longestIndexingMs) throw new Error('The index of the event log does not come.');
      await sleep(100);
    }
    console.log(`\nindexed ${((performance.now() - beganAt) / 1_000).toFixed(1)} s later`);
  };

  const measure = async (kind: Kind, events: number) => {
    const taken: number[] = [];
    for (let nth = 0; nth < kind.times; nth++) {
      const beganAt = performance.now();
      const answer = await search(kind, nth, events);
      if ('refused' in answer) throw new Error(answer.refused.error.message);
      taken.push(performance.now() - beganAt);
    }
    return { p50: percentile(taken, 0.5), p99: percentile(taken, 0.99) };
  };

  try {
    const results: unknown[] = [];
    const first = new Map<string, number>();
    for (const events of sizes) {
      const perSecond = await fill(events);
      if (perSecond !== undefined) console.log(`\n${perSecond} events/s from the outbox into the log, up to ${events}`);
      await indexed();
      await log.query('vacuum analyze');
      console.log(
        `\n| search in ${events} events | p50 ms | p99 ms | p50 to that of ${sizes[0]} |\n| --- | ---: | ---: | ---: |`,
      );
      for (const kind of kinds) {
        const { p50, p99 } = await measure(kind, events);
        if (!first.has(kind.name)) first.set(kind.name, p50);
        const ratio = p50 / (first.get(kind.name) ?? p50);
        results.push({ events, perSecond, search: kind.name, p50, p99, ratio });
        console.log(`| ${kind.name} | ${p50.toFixed(1)} | ${p99.toFixed(1)} | ${ratio.toFixed(2)} |`);
      }
    }
    return results;
  } finally {
    await outbox.end();
    await log.end();
    await platform.stop();
    await postgres.stop();
    if (dataDir === undefined) rmSync(folder, { recursive: true, force: true });
  }
};
