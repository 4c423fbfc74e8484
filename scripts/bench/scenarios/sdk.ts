import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { serverAt, type ServerUnderTest } from '../../server-under-test.ts';
import type { DeliveryMemory } from '../delivery-memory-process.ts';
import { type BenchFlag, benchFlag } from '../generated-flags.ts';
import {
  type BenchOptions,
  environment,
  measure,
  percentile,
  printHead,
  type Row,
  seedFlags,
  send,
  strategiesOf,
  waitUntilSettled,
  withServers,
} from '../run.ts';

/** A request that an SDK repeats. */
export interface Poll {
  readonly name: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** what is posted; undefined for GET */
  readonly body?: unknown;
}

const connectionCounts = [8, 32];
const changesMeasured = 10;
export const evaluatedFlags = 400;
const features = '/api/client/features';
const delta = '/api/client/delta';

/**
 * Measures `node:http` alone, evaluations for browsers and OFREP, and polls of SDKs with each number of flags: unchanged, full and as
 * deltas, the first response after a change, and the memory.
 */
export async function benchSdkRequests(options: BenchOptions): Promise<unknown> {
  const isOwn = options.urls.length === 0;
  const bare = await benchBareHttp(options);
  const evaluations = isOwn ? await benchEvaluations(options) : [];
  const sizes = [];
  for (const flags of options.features === undefined ? [1_000, 10_000, 100_000] : [options.features])
    sizes.push(await benchSize(flags, options));
  const memory = isOwn ? measureDeliveryMemory(options.features ?? 100_000) : undefined;
  return { date: new Date().toISOString(), bare, evaluations, sizes, memory };
}

/** Measures the polls of each server at each number of connections. */
export async function measureAll(
  servers: readonly ServerUnderTest[],
  pollsOf: readonly (readonly Poll[])[],
  options: BenchOptions,
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  printHead();
  for (const [nth, { name }] of (pollsOf[0] ?? []).entries()) {
    if (!name.includes(options.only)) continue;
    const measured = pollsOf.map((polls) => {
      const { path: address, headers, body } = polls[nth] as Poll;
      const request = { method: body === undefined ? 'GET' : 'POST', path: address, headers, body };
      return { name, isConstant: true, request: () => request };
    });
    for (const connections of connectionCounts)
      rows.push(...(await measure(servers, measured, { ...options, connections })));
  }
  return rows;
}

/** The limit of this machine: `node:http` alone, in this process, which responds to each request with 304. */
async function benchBareHttp(options: BenchOptions): Promise<readonly Row[]> {
  // As many bytes as those of a 304 of Bunting.
  const headers = { etag: '"0:1:2"', 'x-padding': 'x'.repeat(350) };
  const server = createServer((_, response) => void response.writeHead(304, headers).end());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  try {
    const poll: Poll = { name: 'node:http alone, 304', path: '/', headers: {} };
    return await measureAll([serverAt(`http://127.0.0.1:${port}`, '')], [[poll]], { ...options, only: '' });
  } finally {
    server.close();
  }
}

/** Evaluations for one user, of all flags and of one. */
function benchEvaluations(options: BenchOptions): Promise<readonly Row[]> {
  return withServers(options, async ([server]) => {
    await seedFlags(server, { count: evaluatedFlags, flagOf: evaluatedFlag });
    const identity = { authorization: await tokenOf(server, 'frontend'), 'accept-encoding': 'identity' };
    const [strategy] = await strategiesOf(server, evaluatedFlags, 1);
    const frontend = '/api/frontend?userId=7&sessionId=8';
    const ofrep = '/ofrep/v1/evaluate/flags';
    const body = { context: { targetingKey: '7', email: 'ada@example.com' } };
    const polls: Poll[] = [
      { name: 'frontend, identity', path: frontend, headers: identity },
      { name: 'frontend, gzip', path: frontend, headers: { ...identity, 'accept-encoding': 'gzip' } },
      { name: 'OFREP, one flag', path: `${ofrep}/${strategy?.feature}`, headers: identity, body },
      { name: 'OFREP, all flags', path: ofrep, headers: identity, body },
    ];
    return measureAll([server], [polls], options);
  });
}

/** The flags of evaluations. Every second one is on: half of these for some users, the others for a share of all users. */
export function evaluatedFlag(nth: number): BenchFlag {
  const flag = benchFlag(nth);
  if (nth % 4 !== 0) return flag;
  return { ...flag, strategies: flag.strategies.map((strategy) => ({ ...strategy, constraints: [] })) };
}

function benchSize(flags: number, options: BenchOptions) {
  return withServers(options, async (servers) => {
    const prepared = await Promise.all(servers.map((server) => prepare(server, flags, options)));
    console.log(`\n${flags} flags`);
    const rows = await measureAll(
      servers,
      prepared.map(({ polls }) => polls),
      options,
    );
    for (const { server, first } of prepared) {
      const { p50, max } = await first();
      const resident = server.residentMb() ?? '–';
      console.log(
        `first full response after a change: ${p50.toFixed(1)} ms in the median, ${max.toFixed(1)} ms at most; ${resident} MB resident`,
      );
    }
    return { flags, rows };
  });
}

/** Fills a server, and makes the polls of SDKs that are up to date, a change behind, or new. */
async function prepare(server: ServerUnderTest, flags: number, { urls }: BenchOptions) {
  if (urls.length === 0) await seedFlags(server, { count: flags });
  await waitUntilSettled(server);
  const authorization = await tokenOf(server, 'client');
  const identity = { authorization, 'unleash-client-spec': '5.2.0', 'accept-encoding': 'identity' };
  const gzip = { ...identity, 'accept-encoding': 'gzip' };
  const [strategy] = await strategiesOf(server, flags, 1);
  if (strategy === undefined) throw new Error('The flags have no strategies.');
  const patch = (rollout: number) =>
    send(
      server,
      'PATCH',
      `/api/admin/projects/default/features/${strategy.feature}/environments/${environment}/strategies/${strategy.id}`,
      [{ op: 'replace', path: '/parameters/rollout', value: String(rollout % 101) }],
    );
  const tagOf = async (address: string, headers: Readonly<Record<string, string>>): Promise<string> => {
    const response = await fetch(`${server.url}${address}`, { headers });
    await response.arrayBuffer();
    return response.headers.get('etag') ?? '';
  };
  const beforeChange = await tagOf(delta, identity);
  await patch(7);
  const known = (tag: string) => ({ ...gzip, 'if-none-match': tag });
  const polls: Poll[] = [
    { name: 'full, unchanged', path: features, headers: known(await tagOf(features, gzip)) },
    { name: 'delta, unchanged', path: delta, headers: known(await tagOf(delta, gzip)) },
    { name: 'delta of one change', path: delta, headers: known(beforeChange) },
    { name: 'full, gzip', path: features, headers: gzip },
    { name: 'full, identity', path: features, headers: identity },
  ];
  /** Milliseconds of the first full response after a change. */
  const first = async () => {
    const durations: number[] = [];
    for (let nth = 0; nth < changesMeasured; nth++) {
      await patch(nth);
      const startedAt = performance.now();
      await receive(`${server.url}${features}`, gzip);
      durations.push(performance.now() - startedAt);
    }
    return { p50: percentile(durations, 0.5), max: Math.max(...durations) };
  };
  return { server, polls, first };
}

export async function tokenOf(server: ServerUnderTest, type: 'client' | 'frontend', project = '*'): Promise<string> {
  const body = { tokenName: `bench ${type} ${project}`, type, environment, projects: [project] };
  return (await send<{ secret: string }>(server, 'POST', '/api/admin/api-tokens', body)).reply.secret;
}

/** Receives a response without decoding it. */
function receive(url: string, headers: Readonly<Record<string, string>>): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    get(url, { headers }, (response) => void buffer(response).then(resolve, reject)).once('error', reject);
  });
}

function measureDeliveryMemory(flags: number) {
  const file = path.join(import.meta.dirname, '../delivery-memory-process.ts');
  const output = execFileSync(process.execPath, ['--expose-gc', '--no-warnings', file, String(flags)]);
  const memory = JSON.parse(output.toString()) as { stored: DeliveryMemory; served: DeliveryMemory };
  for (const [what, { heapUsed, external, rss }] of Object.entries(memory))
    console.log(
      `${flags} flags in two environments, ${what}: ${heapUsed} MiB heap, ${external} external, ${rss} resident`,
    );
  return memory;
}
