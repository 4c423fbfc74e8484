import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { Worker } from 'node:worker_threads';
import { type BenchFlag, benchFlag } from '../generated-flags.ts';
import { seedFlags, fetchStrategyIds } from '../http/seed-flags.ts';
import {
  existingServer,
  startServerUnderTest,
  waitUntilSettled,
  type ServerUnderTest,
} from '../http/server-under-test.ts';
import type { RequestLoad, RequestLoadResult } from './request-load-worker.ts';
import type { DeliveryMemory } from './delivery-memory-process.ts';

interface SdkBenchOptions {
  /** the numbers of flags to measure with */
  readonly sizes: readonly number[];
  readonly seconds: number;
  readonly warmUpSeconds: number;
  readonly only: string;
  /** a server that runs already and has the flags, instead of a new Bunting for each size */
  readonly server?: { readonly url: string; readonly token: string } | undefined;
}

interface Row {
  readonly flags: number;
  readonly name: string;
  readonly connections: number;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly kilobytes: number;
  /** microseconds of CPU of the server's process for one request */
  readonly cpuMicros: number | undefined;
  readonly unexpected: number;
}

interface Poll {
  readonly name: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly status: number;
  /** JSON that is posted; undefined for GET */
  readonly body?: string;
}

const connectionCounts = [8, 32];
const changesMeasured = 10;
const evaluatedFlags = 400;
const features = '/api/client/features';
const delta = '/api/client/delta';

const runLoadWorker = (options: RequestLoad): Promise<RequestLoadResult> =>
  new Promise((resolve, reject) => {
    const worker = new Worker(new URL('request-load-worker.ts', import.meta.url), { workerData: options });
    worker.once('message', resolve).once('error', reject);
  });

const tokenOf = async ({ url, token }: ServerUnderTest, type: 'client' | 'frontend' = 'client'): Promise<string> => {
  const response = await fetch(`${url}/api/admin/api-tokens`, {
    method: 'POST',
    headers: { authorization: token, 'content-type': 'application/json' },
    body: JSON.stringify({ tokenName: `bench ${type}`, type, environment: 'development', projects: ['*'] }),
  });
  return ((await response.json()) as { secret: string }).secret;
};

const etagOf = async (
  target: ServerUnderTest,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<string> => {
  const response = await fetch(`${target.url}${path}`, { headers });
  await response.arrayBuffer();
  return response.headers.get('etag') ?? '';
};

const patch = async (
  target: ServerUnderTest,
  strategy: { feature: string; id: string },
  rollout: number,
): Promise<void> => {
  const path = `/api/admin/projects/default/features/${strategy.feature}/environments/development/strategies/${strategy.id}`;
  const response = await fetch(`${target.url}${path}`, {
    method: 'PATCH',
    headers: { authorization: target.token, 'content-type': 'application/json' },
    body: JSON.stringify([{ op: 'replace', path: '/parameters/rollout', value: String(rollout % 101) }]),
  });
  if (!response.ok) throw new Error(`PATCH ${path} answered ${response.status}: ${await response.text()}`);
};

/** Receives a response without decoding it. */
const receive = (url: string, headers: Readonly<Record<string, string>>): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    get(url, { headers }, (response) => void buffer(response).then(resolve, reject)).once('error', reject);
  });

const median = (durations: number[]): number =>
  durations.sort((one, other) => one - other)[Math.floor(durations.length / 2)] ?? 0;

/** Milliseconds of the first full response after a change: the median and the maximum. */
const firstAfterChange = async (
  target: ServerUnderTest,
  headers: Readonly<Record<string, string>>,
  strategy: { feature: string; id: string },
): Promise<{ readonly p50: number; readonly max: number }> => {
  const durations: number[] = [];
  for (let nth = 0; nth < changesMeasured; nth++) {
    await patch(target, strategy, nth);
    const startedAt = performance.now();
    await receive(`${target.url}${features}`, headers);
    durations.push(performance.now() - startedAt);
  }
  return { p50: median(durations), max: Math.max(...durations) };
};

const measure = async (
  target: ServerUnderTest,
  flags: number,
  poll: Poll,
  options: SdkBenchOptions,
): Promise<Row[]> => {
  const port = Number(new URL(target.url).port);
  const rows: Row[] = [];
  for (const connections of connectionCounts) {
    const sendLoad = (seconds: number) =>
      runLoadWorker({
        port,
        path: poll.path,
        headers: poll.headers,
        body: poll.body,
        connections,
        milliseconds: seconds * 1_000,
      });
    await sendLoad(options.warmUpSeconds);
    const before = target.cpuSeconds();
    const { requests, milliseconds, bytes, statuses, p50Ms, p99Ms } = await sendLoad(options.seconds);
    const after = target.cpuSeconds();
    const cpu = before === undefined || after === undefined ? undefined : ((after - before) / requests) * 1e6;
    const row: Row = {
      flags,
      name: poll.name,
      connections,
      p50Ms,
      p99Ms,
      requestsPerSecond: Math.round((requests * 1_000) / milliseconds),
      kilobytes: Math.round(bytes / requests / 102.4) / 10,
      cpuMicros: cpu === undefined ? undefined : Math.round(cpu),
      unexpected: requests - (statuses[poll.status] ?? 0),
    };
    rows.push(row);
    console.log(
      `| ${flags} | ${row.name} | ${connections} | ${row.requestsPerSecond} | ${p50Ms.toFixed(2)} | ${p99Ms.toFixed(2)} | ${row.kilobytes} | ${row.cpuMicros ?? '–'} | ${row.unexpected} |`,
    );
  }
  return rows;
};

const benchSize = async (flags: number, options: SdkBenchOptions) => {
  const { server } = options;
  const target = server === undefined ? await startServerUnderTest() : existingServer(server.url, server.token);
  try {
    if (server === undefined)
      await seedFlags(target, { count: flags, how: 'import' }, (done) =>
        process.stderr.write(`\r${done} of ${flags} flags`),
      );
    process.stderr.write('\r');
    await waitUntilSettled(target);
    const authorization = await tokenOf(target);
    const identityHeaders = { authorization, 'unleash-client-spec': '5.2.0', 'accept-encoding': 'identity' };
    const gzipHeaders = { ...identityHeaders, 'accept-encoding': 'gzip' };
    const [strategy] = await fetchStrategyIds(target, flags, 1);
    if (strategy === undefined) throw new Error('The flags have no strategies.');
    const beforeChange = await etagOf(target, delta, identityHeaders);
    await patch(target, strategy, 7);
    const [fullTag, deltaTag] = [await etagOf(target, features, gzipHeaders), await etagOf(target, delta, gzipHeaders)];
    const polls: Poll[] = [
      { name: 'full, unchanged', path: features, headers: { ...gzipHeaders, 'if-none-match': fullTag }, status: 304 },
      { name: 'delta, unchanged', path: delta, headers: { ...gzipHeaders, 'if-none-match': deltaTag }, status: 304 },
      {
        name: 'delta of one change',
        path: delta,
        headers: { ...gzipHeaders, 'if-none-match': beforeChange },
        status: 200,
      },
      { name: 'full, gzip', path: features, headers: gzipHeaders, status: 200 },
      { name: 'full, identity', path: features, headers: identityHeaders, status: 200 },
    ];
    const rows: Row[] = [];
    for (const poll of polls.filter(({ name }) => name.includes(options.only))) {
      rows.push(...(await measure(target, flags, poll, options)));
    }
    const first = await firstAfterChange(target, gzipHeaders, strategy);
    return { flags, rows, first, residentMb: target.residentMb() };
  } finally {
    await target.stop();
  }
};

/** The headers of a 304 with as many bytes as those of Bunting. */
const paddedHeaders = { etag: '"0:1:2"', 'x-padding': 'x'.repeat(350) };

/** The limit of this machine: `node:http` alone, in this process, which responds to each request with 304. */
const benchBareHttp = async (options: SdkBenchOptions): Promise<readonly Row[]> => {
  const server = createServer((_, response) => void response.writeHead(304, paddedHeaders).end());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  try {
    const poll: Poll = { name: 'node:http alone, 304', path: '/', headers: {}, status: 304 };
    return await measure(existingServer(`http://127.0.0.1:${port}`, ''), 0, poll, options);
  } finally {
    server.close();
  }
};

/** The flags of evaluations. Every second one is on: half of these for some users, the others for a share of all users. */
const evaluatedFlag = (nth: number): BenchFlag => {
  const flag = benchFlag(nth);
  if (nth % 4 !== 0) return flag;
  return { ...flag, strategies: flag.strategies.map((strategy) => ({ ...strategy, constraints: [] })) };
};

/** Evaluations for one user, of all flags and of one. */
const benchEvaluations = async (options: SdkBenchOptions): Promise<readonly Row[]> => {
  // All requests come from one IP address, so their rate must not be limited.
  const target = await startServerUnderTest({ GATEWAY_MAX_FRONTEND_REQUESTS_PER_MINUTE: '0' });
  try {
    await seedFlags(target, { count: evaluatedFlags, how: 'import', flagOf: evaluatedFlag });
    await waitUntilSettled(target);
    const authorization = await tokenOf(target, 'frontend');
    const identityHeaders = { authorization, 'accept-encoding': 'identity' };
    const [strategy] = await fetchStrategyIds(target, evaluatedFlags, 1);
    if (strategy === undefined) throw new Error('The flags have no strategies.');
    const frontend = '/api/frontend?userId=7&sessionId=8';
    const ofrep = '/ofrep/v1/evaluate/flags';
    const body = JSON.stringify({ context: { targetingKey: '7', email: 'ada@example.com' } });
    const polls: Poll[] = [
      { name: 'frontend, identity', path: frontend, headers: identityHeaders, status: 200 },
      {
        name: 'frontend, gzip',
        path: frontend,
        headers: { ...identityHeaders, 'accept-encoding': 'gzip' },
        status: 200,
      },
      { name: 'OFREP, one flag', path: `${ofrep}/${strategy.feature}`, headers: identityHeaders, status: 200, body },
      { name: 'OFREP, all flags', path: ofrep, headers: identityHeaders, status: 200, body },
    ];
    const rows: Row[] = [];
    for (const poll of polls.filter(({ name }) => name.includes(options.only))) {
      rows.push(...(await measure(target, evaluatedFlags, poll, options)));
    }
    return rows;
  } finally {
    await target.stop();
  }
};

const measureDeliveryMemory = (flags: number): { readonly stored: DeliveryMemory; readonly served: DeliveryMemory } => {
  const file = path.join(import.meta.dirname, 'delivery-memory-process.ts');
  const output = execFileSync(process.execPath, ['--expose-gc', '--no-warnings', file, String(flags)]);
  return JSON.parse(output.toString()) as { stored: DeliveryMemory; served: DeliveryMemory };
};

/**
 * Measures `node:http` alone, evaluations for browsers and OFREP, and polls of SDKs with each number of flags: unchanged, full and as
 * deltas, the first response after a change, and the memory.
 */
export const benchSdkRequests = async (options: SdkBenchOptions): Promise<unknown> => {
  console.log(
    '\n| flags | poll | connections | requests/s | p50 ms | p99 ms | kB | CPU µs | unexpected |\n| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |',
  );
  const bare = await benchBareHttp(options);
  const evaluations = options.server === undefined ? await benchEvaluations(options) : [];
  const sizes = [];
  for (const flags of options.sizes) sizes.push(await benchSize(flags, options));
  console.log(
    '\n| flags | first full response after a change, p50 ms | slowest ms | process, MB resident |\n| ---: | ---: | ---: | ---: |',
  );
  for (const { flags, first, residentMb } of sizes) {
    console.log(`| ${flags} | ${first.p50.toFixed(1)} | ${first.max.toFixed(1)} | ${residentMb ?? '–'} |`);
  }
  if (options.server !== undefined) return { date: new Date().toISOString(), bare, sizes };
  const maxFlags = Math.max(...options.sizes);
  const memory = measureDeliveryMemory(maxFlags);
  const text = ({ heapUsed, external, rss }: DeliveryMemory) =>
    `${heapUsed} heap, ${external} external, ${rss} resident`;
  console.log(
    `\n${maxFlags} flags in two environments take, in MiB: ${text(memory.stored)}; with a response for each environment ${text(memory.served)}.`,
  );
  return { date: new Date().toISOString(), bare, evaluations, sizes, memory };
};
