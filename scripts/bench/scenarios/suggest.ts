import type { FeatureSuggestions, StateOf } from '@bunting/contracts';
import { eventually } from '@bunting/testing';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  flagName,
  type Misspelling,
  misspellings,
  misspeltQueries,
  seededRandom,
} from '../../../apps/search/test/misspelt-queries.ts';
import { type ServerUnderTest, startServer } from '../../server-under-test.ts';
import { benchFeatureState } from '../generated-search-states.ts';
import { type BenchOptions, percentile, printRow, printTableHead, send } from '../run.ts';
import { projectStates, searchSettings } from './search.ts';

const users = 10;
const maxIndexingMs = 600_000;
/** The pause between two keys of a user, in milliseconds: fast typing, with a request for each key. */
const keyMs = { least: 100, most: 250 } as const;

/** The nth flag of the bench, named as a team would; none is archived. */
function namedState(nth: number): StateOf<'feature'> {
  const { state, ...message } = benchFeatureState(nth);
  if (state === null) throw new Error('The bench deletes no flags.');
  const name = flagName(nth);
  return { ...message, id: name, state: { ...state, name, archivedAt: null } };
}

/**
 * Measures what ten users wait for who type at the same time, through the gateway, and how many of 200 misspelt queries find the flag that
 * is meant. With `MEILI_URL` the server uses that Meilisearch.
 */
export async function benchSuggestions({ features = 100_000, dataDir, seconds }: BenchOptions): Promise<unknown> {
  const folder = dataDir ?? mkdtempSync(path.join(os.tmpdir(), 'bunting-bench-'));
  // When root starts PostgreSQL, it runs as another user, who must be able to reach its data folder below this one.
  chmodSync(folder, 0o711);
  const data = path.join(folder, `suggest-${features}`);
  try {
    const server = await startServer(searchSettings, { dataDir: data, keepData: true });
    try {
      const projectedSeconds = await projectStates(features, data, namedState);
      console.log(`${features} features found after ${projectedSeconds.toFixed(1)} s`);
      const indexedSeconds = process.env['MEILI_URL'] ? await untilIndexed(server) : undefined;
      if (indexedSeconds !== undefined) console.log(`Meilisearch answers after ${indexedSeconds.toFixed(1)} s more`);
      const kinds = await measureMisspelt(server, features);
      return {
        features,
        projectedSeconds,
        indexedSeconds,
        kinds,
        keys: await measureTyping(server, features, seconds),
      };
    } finally {
      await server.stop();
    }
  } finally {
    if (dataDir === undefined) rmSync(folder, { recursive: true, force: true });
  }
}

/** Waits until Meilisearch has every feature, and answers. @returns the seconds that it took */
async function untilIndexed({ url, token }: ServerUnderTest): Promise<number> {
  const startedAt = performance.now();
  await eventually(
    async () => {
      const response = await fetch(`${url}/api/admin/search/suggest?query=chekcout`, {
        headers: { authorization: token },
      });
      await response.arrayBuffer();
      const engine = response.headers.get('bunting-search-engine');
      if (engine !== 'meilisearch') throw new Error(`Suggestions come from ${engine}.`);
    },
    { timeoutMs: maxIndexingMs },
  );
  return (performance.now() - startedAt) / 1_000;
}

async function suggest(server: ServerUnderTest, query: string) {
  const { reply, tookMs } = await send<FeatureSuggestions>(
    server,
    'GET',
    `/api/admin/search/suggest?query=${encodeURIComponent(query)}`,
  );
  return { names: reply.suggestions.map(({ name }) => name), tookMs };
}

async function measureMisspelt(server: ServerUnderTest, features: number): Promise<unknown> {
  const kinds = new Map<Misspelling, { queries: number; first: number; inEight: number }>(
    misspellings.map((kind) => [kind, { queries: 0, first: 0, inEight: 0 }]),
  );
  const missed: string[] = [];
  for (const { kind, query, wanted } of misspeltQueries(features)) {
    const place = (await suggest(server, query)).names.indexOf(wanted);
    const counts = kinds.get(kind);
    if (counts === undefined) continue;
    counts.queries += 1;
    if (place === 0) counts.first += 1;
    if (place >= 0) counts.inEight += 1;
    if (place !== 0) missed.push(`${query} (${wanted})`);
  }
  printTableHead(`misspelt queries in ${features} features`, 'queries', 'first', 'in the first 8');
  for (const [kind, { queries, first, inEight }] of kinds) printRow(kind, queries, first, inEight);
  const sum = (of: 'queries' | 'first' | 'inEight') => [...kinds.values()].reduce((all, counts) => all + counts[of], 0);
  printRow('all', sum('queries'), sum('first'), sum('inEight'));
  for (const query of missed) console.log(`not first: ${query}`);
  return Object.fromEntries(kinds);
}

/** Users type misspelt queries key by key. Nobody waits for the answer to one key before the next. */
async function measureTyping(server: ServerUnderTest, features: number, seconds: number) {
  const queries = misspeltQueries(features, 40 * users);
  const durations: number[] = [];
  const type = async (user: number, until: number): Promise<void> => {
    const random = seededRandom(user);
    for (let nth = user; ; nth = (nth + users) % queries.length) {
      const { query } = queries[nth] as (typeof queries)[number];
      const answers: Promise<unknown>[] = [];
      for (let length = 1; length <= query.length && performance.now() < until; length++) {
        answers.push(suggest(server, query.slice(0, length)).then(({ tookMs }) => durations.push(tookMs)));
        await sleep(keyMs.least + random() * (keyMs.most - keyMs.least));
      }
      await Promise.all(answers);
      if (performance.now() >= until) return;
    }
  };
  const run = (milliseconds: number): Promise<unknown> => {
    const until = performance.now() + milliseconds;
    return Promise.all(Array.from({ length: users }, (_, user) => type(user, until)));
  };
  // Code is compiled and caches are warm before anything is measured.
  await run(3_000);
  durations.length = 0;
  const before = [server.cpuSeconds(), server.postgresCpuSeconds()] as const;
  await run(1_000 * seconds);
  const cpuMs = [server.cpuSeconds(), server.postgresCpuSeconds()].map(
    (after, nth) => (1_000 * ((after ?? 0) - (before[nth] ?? 0))) / durations.length,
  );
  const [p50, p99] = [percentile(durations, 0.5), percentile(durations, 0.99)];
  printTableHead(
    `${users} users who type in ${features} features`,
    'keys',
    'p50 ms',
    'p99 ms',
    'CPU ms',
    'of PostgreSQL',
  );
  printRow(
    'from a key to its suggestions',
    durations.length,
    p50.toFixed(1),
    p99.toFixed(1),
    ...cpuMs.map((ms) => ms.toFixed(2)),
  );
  return { keys: durations.length, p50, p99, cpuMs };
}
