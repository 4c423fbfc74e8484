/* What all scenarios share: the server, its flags, the load, the CPU of its process and of PostgreSQL, and the tables. */
import os from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { progressDisplay } from '../progress-display.ts';
import { serverAt, type ServerUnderTest, startServer } from '../server-under-test.ts';
import { type BenchFlag, benchFlag, exportOf } from './generated-flags.ts';
import type { Load, LoadResult } from './load-worker.ts';

/** The options of `npm run bench`, as each scenario understands them. */
export interface BenchOptions {
  readonly features: number | undefined;
  readonly events: number | undefined;
  readonly streams: number | undefined;
  readonly connections: number;
  /** how long each operation is measured */
  readonly seconds: number;
  readonly warmUpSeconds: number;
  /** measures only what has this text in its name */
  readonly only: string;
  /** servers that run already, measured in turns; none for a Bunting that is started for the bench */
  readonly urls: readonly string[];
  readonly token: string;
  /** how flags are created; undefined if the servers have them */
  readonly seed: 'import' | 'rest' | undefined;
  readonly dataDir: string | undefined;
  readonly times: number;
  readonly whileProjecting: boolean;
}

export interface BenchRequest {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A kind of request that is sent repeatedly. */
export interface Measured {
  readonly name: string;
  /** the nth request; requests of a run differ, so that no cached response is measured */
  readonly request: (nth: number) => BenchRequest;
  /** whether all requests are the same */
  readonly isConstant?: boolean;
  /** reads what the requests need of the server as it is when they are measured */
  readonly prepare?: () => Promise<void>;
}

/** What was measured of one kind of request. */
export interface Row {
  readonly name: string;
  readonly server: string;
  readonly connections: number;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly kilobytes: number;
  /** milliseconds of CPU for one request, of the server's process and of its PostgreSQL, including the background work that follows */
  readonly cpuMs: number | undefined;
  readonly postgresCpuMs: number | undefined;
  readonly statuses: Readonly<Record<number, number>>;
}

export const environment = 'development';
const notModified = 304;
const preparedRequests = 20_000;
const importBatchSize = 1_000;
const seedConcurrency = 8;
const settlePollMs = 500;
/** An idle platform uses less than this share of a core. */
const idleShare = 0.05;
const settleTimeoutMs = 60_000;

/** Runs a job with the servers of the options, or with a new Bunting. */
export async function withServers<T>(
  { urls, token }: Pick<BenchOptions, 'urls' | 'token'>,
  job: (servers: readonly [ServerUnderTest, ...ServerUnderTest[]]) => Promise<T>,
  settings: Readonly<Record<string, string>> = {},
): Promise<T> {
  console.log(
    `${os.cpus().length} × ${os.cpus()[0]?.model ?? 'unknown processor'}, Node ${process.version}, ${new Date().toISOString().slice(0, 10)}`,
  );
  const [first, ...others] = urls.map((url) => serverAt(url, token));
  if (first !== undefined) return job([first, ...others]);
  const server = await startServer(settings);
  try {
    console.log(`ready after ${(server.readyMs / 1_000).toFixed(1)} s`);
    return await job([server]);
  } finally {
    await server.stop();
  }
}

/** Sends one request. @returns the reply, and the milliseconds until it was there. @throws Error unless it is a success or unchanged */
export async function send<T = unknown>(
  { url, token }: Pick<ServerUnderTest, 'url' | 'token'>,
  method: string,
  path: string,
  body?: unknown,
  more: BenchRequest['headers'] = {},
): Promise<{ readonly reply: T; readonly tookMs: number }> {
  const startedAt = performance.now();
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: token, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...more },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const tookMs = performance.now() - startedAt;
  if (!response.ok && response.status !== notModified)
    throw new Error(`${method} ${path} answered ${response.status}: ${text.slice(0, 300)}`);
  return { reply: (text === '' ? undefined : JSON.parse(text)) as T, tookMs };
}

interface SeedOptions {
  readonly count: number;
  /** `rest` creates flags one by one through the REST API, which other servers have as well */
  readonly how?: 'import' | 'rest' | undefined;
  /** the number of the first flag */
  readonly first?: number;
  readonly project?: string;
  readonly flagOf?: (nth: number) => BenchFlag;
}

/** Shows how much of a preparation is done. It takes minutes: a log gets a line every ten seconds. */
export function progressOf(total: number, what: string) {
  return progressDisplay(process.stderr, { total, what, lineIntervalMs: 10_000 });
}

/** Creates flags, and shows how many are done. */
export async function seedFlags(
  target: Pick<ServerUnderTest, 'url' | 'token'>,
  { count, how = 'import', first = 0, project = 'default', flagOf = benchFlag }: SeedOptions,
): Promise<void> {
  const startedAt = performance.now();
  const progress = progressOf(count, 'flags');
  const createFlag = async ({ name, type, description, strategies, tags }: BenchFlag): Promise<void> => {
    const features = `/api/admin/projects/${project}/features`;
    await send(target, 'POST', features, { name, type, description });
    for (const strategy of strategies)
      await send(target, 'POST', `${features}/${name}/environments/${environment}/strategies`, strategy);
    for (const tag of tags) await send(target, 'POST', `/api/admin/features/${name}/tags`, tag);
  };
  let next = 0;
  const createFlags = async (): Promise<void> => {
    while (next < count) {
      const nth = next++;
      await createFlag(flagOf(first + nth));
      if (nth % 250 === 0) progress.to(nth);
    }
  };
  if (how === 'rest') await Promise.all(Array.from({ length: seedConcurrency }, createFlags));
  else
    for (let from = 0; from < count; from += importBatchSize) {
      const length = Math.min(importBatchSize, count - from);
      const flags = Array.from({ length }, (_, index) => flagOf(first + from + index));
      const data = exportOf(flags, environment);
      await send(target, 'POST', '/api/admin/features-batch/import', { project, environment, data });
      progress.to(from + length);
    }
  const seconds = (performance.now() - startedAt) / 1_000;
  progress.end();
  console.log(`${count} flags seeded in ${seconds.toFixed(1)} s`);
}

/** The first strategies of at most `limit` flags, which are spread over all flags. */
export async function strategiesOf(
  target: Pick<ServerUnderTest, 'url' | 'token'>,
  count: number,
  limit: number,
): Promise<readonly { readonly feature: string; readonly id: string }[]> {
  const step = Math.max(1, Math.floor(count / limit));
  const strategies: { feature: string; id: string }[] = [];
  for (let nth = 0; nth < count && strategies.length < limit; nth += step) {
    const feature = benchFlag(nth).name;
    const { reply } = await send<{ environments: { name: string; strategies: { id: string }[] }[] }>(
      target,
      'GET',
      `/api/admin/projects/default/features/${feature}`,
    );
    const id = reply.environments.find(({ name }) => name === environment)?.strategies[0]?.id;
    if (id !== undefined) strategies.push({ feature, id });
  }
  return strategies;
}

/** Waits until the server has finished the background work of the last requests, which its CPU time shows. At most a minute. */
export async function waitUntilSettled(target: ServerUnderTest): Promise<void> {
  const until = performance.now() + settleTimeoutMs;
  for (let before = target.cpuSeconds(); before !== undefined && performance.now() < until;) {
    await sleep(settlePollMs);
    const now = target.cpuSeconds() ?? before;
    if ((now - before) * 1_000 < idleShare * settlePollMs) return;
    before = now;
  }
}

/** Sends requests from another thread for some seconds. @param first the number of the first request */
export function generateLoad(
  target: Pick<ServerUnderTest, 'url' | 'token'>,
  { request, isConstant = false }: Measured,
  { connections, seconds, first = 0 }: { connections: number; seconds: number; first?: number },
): Promise<LoadResult> {
  const requests = Array.from({ length: isConstant ? 1 : preparedRequests }, (_, nth) =>
    bytesOf(target, request(first + nth)),
  );
  const port = Number(new URL(target.url).port);
  const load: Load = { port, requests, first: 0, connections, milliseconds: seconds * 1_000 };
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('load-worker.ts', import.meta.url), { workerData: load });
    worker.once('message', resolve).once('error', reject);
  });
}

function bytesOf(
  { url, token }: Pick<ServerUnderTest, 'url' | 'token'>,
  { method, path, body, headers }: BenchRequest,
): Buffer {
  const text = body === undefined ? '' : JSON.stringify(body);
  const all = {
    host: new URL(url).host,
    authorization: token,
    ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${text}`);
}

/**
 * Measures a kind of request, and prints a row for each server. Two servers are measured in the order a, b, b, a, so that a machine that
 * becomes slower does so for both.
 */
export async function measure(
  servers: readonly ServerUnderTest[],
  measured: Measured | readonly Measured[],
  { connections, seconds, warmUpSeconds }: Pick<BenchOptions, 'connections' | 'seconds' | 'warmUpSeconds'>,
): Promise<readonly Row[]> {
  const kindOf = (nth: number): Measured => (Array.isArray(measured) ? measured[nth] : measured) as Measured;
  const order = servers.length === 1 ? [0] : [...servers.keys(), ...[...servers.keys()].reverse()];
  const results = servers.map(
    (): { result: LoadResult; cpu: number | undefined; postgres: number | undefined }[] => [],
  );
  // Requests continue where earlier ones ended, so that no write repeats one.
  const firsts = servers.map(() => 0);
  for (const nth of order) {
    const target = servers[nth] as ServerUnderTest;
    if (warmUpSeconds > 0) {
      const warmUp = { connections, seconds: warmUpSeconds, first: firsts[nth] ?? 0 };
      firsts[nth] = warmUp.first + (await generateLoad(target, kindOf(nth), warmUp)).requests;
    }
    await waitUntilSettled(target);
    const before = [target.cpuSeconds(), target.postgresCpuSeconds()];
    const result = await generateLoad(target, kindOf(nth), { connections, seconds, first: firsts[nth] ?? 0 });
    firsts[nth] = (firsts[nth] ?? 0) + result.requests;
    await waitUntilSettled(target);
    const after = [target.cpuSeconds(), target.postgresCpuSeconds()];
    const [cpu, postgres] = after.map((end, one) => (end === undefined ? undefined : end - (before[one] ?? 0)));
    results[nth]?.push({ result, cpu, postgres });
  }
  const rows = results.map((runs, nth) => {
    const sum = (valueOf: (run: (typeof runs)[number]) => number | undefined): number =>
      runs.reduce((total, run) => total + (valueOf(run) ?? 0), 0);
    const requests = Math.max(
      1,
      sum(({ result }) => result.requests),
    );
    const isKnown = runs.every(({ cpu }) => cpu !== undefined);
    const row: Row = {
      name: kindOf(nth).name,
      server: servers[nth]?.url ?? '',
      connections,
      requestsPerSecond: Math.round((requests * 1_000) / sum(({ result }) => result.milliseconds)),
      p50Ms: sum(({ result }) => result.p50Ms) / runs.length,
      p99Ms: Math.max(...runs.map(({ result }) => result.p99Ms)),
      kilobytes: sum(({ result }) => result.bytes) / requests / 1_024,
      cpuMs: isKnown ? (sum(({ cpu }) => cpu) * 1_000) / requests : undefined,
      postgresCpuMs: isKnown ? (sum(({ postgres }) => postgres) * 1_000) / requests : undefined,
      statuses: summed(runs.map(({ result }) => result.statuses)),
    };
    printRow(
      servers.length > 1 ? `${row.name}, ${row.server}` : row.name,
      row.connections,
      row.requestsPerSecond,
      row.p50Ms.toFixed(1),
      row.p99Ms.toFixed(1),
      row.kilobytes.toFixed(1),
      row.cpuMs?.toFixed(3) ?? '–',
      row.postgresCpuMs?.toFixed(3) ?? '–',
      Object.entries(row.statuses)
        .map(([status, times]) => `${status} × ${times}`)
        .join(', '),
    );
    return row;
  });
  const [one, other] = rows;
  if (one !== undefined && other !== undefined)
    printRow(
      `${one.name}: times the second`,
      connections,
      timesText(one.requestsPerSecond, other.requestsPerSecond),
      timesText(other.p50Ms, one.p50Ms),
      timesText(other.p99Ms, one.p99Ms),
      '',
      `CPU of both columns: ${timesText(totalCpuMs(other), totalCpuMs(one))}`,
    );
  return rows;
}

/** How often each status was returned in several runs. */
function summed(ofRuns: readonly Row['statuses'][]): Row['statuses'] {
  const sum: Record<number, number> = {};
  for (const statuses of ofRuns)
    for (const [status, times] of Object.entries(statuses)) sum[Number(status)] = (sum[Number(status)] ?? 0) + times;
  return sum;
}

/** The CPU of a request, that of PostgreSQL included; undefined if it is not known. */
function totalCpuMs({ cpuMs, postgresCpuMs }: Row): number | undefined {
  return cpuMs === undefined || postgresCpuMs === undefined ? undefined : cpuMs + postgresCpuMs;
}

/** How many times a figure of the first server is better than that of the second. */
function timesText(better: number | undefined, worse: number | undefined): string {
  return better === undefined || worse === undefined || worse === 0 ? '–' : `${(better / worse).toFixed(2)} ×`;
}

/** Prints the head of the table whose rows `measure` prints. */
export function printHead(): void {
  printTableHead(
    'operation',
    'connections',
    'requests/s',
    'p50 ms',
    'p99 ms',
    'kB',
    'CPU ms',
    'PostgreSQL ms',
    'statuses',
  );
}

export function printTableHead(...names: readonly string[]): void {
  console.log('');
  printRow(...names);
  printRow(...names.map((_, nth) => (nth === 0 ? '---' : '---:')));
}

export function printRow(...cells: readonly (string | number)[]): void {
  console.log(`| ${cells.join(' | ')} |`);
}

export function percentile(durations: readonly number[], share: number): number {
  const sorted = durations.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

/** A number below `below`, determined by `nth`. The numbers of consecutive values of `nth` are spread over the range. */
export function spreadOver(nth: number, below: number): number {
  return Number((BigInt(nth) * 2654435761n) % BigInt(below));
}
