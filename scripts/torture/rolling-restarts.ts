import { type Balancer, eventually, startBalancer } from '@bunting/testing';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { ensureNatsServer } from '../nats-server.ts';
import { seededRandom } from '../seeded-random.ts';
import { type ServiceProcess } from './service-process.ts';
import { startCluster } from './cluster.ts';

const help = `Restarts the processes of every service in turn under load, and counts the requests that fail.

  node scripts/torture/rolling-restarts.ts [options]

  --requests N      minimum number of requests (default 2000)
  --restarts N      restarts of each service (default 2)
  --drain-delay MS  DRAIN_DELAY_MS of the gateways (default 3000)
  --clients N       concurrent clients; half of them keep their connections (default 8)

It starts two processes of every service, and a balancer that probes /health/ready of the gateways. Clients do not retry.
Its exit code is 1 if a request failed.`;

export interface RollingRestartsOptions {
  readonly requests: number;
  readonly restarts: number;
  /** folder for data and logs */
  readonly folder: string;
  readonly drainDelayMs?: number;
  readonly clients?: number;
  readonly log?: (line: string) => void;
}

/** What one kind of client saw. */
interface RequestCounts {
  sent: number;
  failed: number;
}

export interface RollingRestartReport {
  readonly restarts: number;
  readonly keepAlive: Readonly<RequestCounts>;
  readonly connectionPerRequest: Readonly<RequestCounts>;
  /** each failed request, with the process that was being restarted */
  readonly failures: readonly string[];
}

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
}

const services = ['features', 'change-requests', 'audit', 'search', 'gateway'] as const;
const features = '/api/admin/projects/default/features';
/** Pause between two requests of a client. */
const pauseMs = 60;
const requestTimeoutMs = 60_000;

/** Sends one request without retries. Resolves with the body, or rejects with the error. */
const send = (
  url: string,
  token: string,
  agent: Agent | undefined,
  { method, path: at, body }: Sent,
): Promise<string> =>
  new Promise((resolve, reject) => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const headers = {
      authorization: token,
      ...(text === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
    };
    const options = { method, headers, agent: agent ?? false, timeout: requestTimeoutMs };
    const outgoing = request(`${url}${at}`, options, (response) => {
      let answer = '';
      response
        .setEncoding('utf8')
        .on('data', (piece: string) => (answer += piece))
        .once('error', reject)
        .once('end', () => {
          const { statusCode = 0 } = response;
          if (statusCode < 400) resolve(answer);
          else reject(new Error(`${statusCode} ${answer.slice(0, 200)}`));
        });
    });
    outgoing.once('error', reject).once('timeout', () => outgoing.destroy(new Error('no response in time')));
    outgoing.end(text);
  });

/** The requests of one client: reads and writes of every service. */
const requestsOf = function* (client: number): Generator<Sent, never> {
  const feature = `rolling-${client}`;
  const requestsPath = '/api/admin/projects/default/change-requests/pending';
  for (let nth = 0; ; nth++) {
    yield {
      method: 'PATCH',
      path: `${features}/${feature}`,
      body: [{ op: 'replace', path: '/description', value: `${nth}` }],
    };
    yield { method: 'GET', path: `${features}/${feature}` };
    yield { method: 'GET', path: `/api/admin/search/features?query=${feature}` };
    yield { method: 'POST', path: `${features}/${feature}/environments/development/${nth % 2 === 0 ? 'on' : 'off'}` };
    yield { method: 'GET', path: '/api/client/features?environment=development' };
    yield { method: 'POST', path: '/api/admin/events/search', body: { feature, limit: 1 } };
    yield { method: 'GET', path: requestsPath };
    if (nth % 8 === 0) yield { method: 'POST', path: features, body: { name: `${feature}-${nth}` } };
  }
};

/** Restarts every service under load. Each has two processes, one of which is always running. */
export const runRollingRestarts = async ({
  requests,
  restarts,
  folder,
  drainDelayMs = 3_000,
  clients = 8,
  log = () => undefined,
}: RollingRestartsOptions): Promise<RollingRestartReport> => {
  mkdirSync(folder, { recursive: true });
  const scale = Object.fromEntries(services.map((service) => [service, 2]));
  const cluster = await startCluster(folder, scale, seededRandom(1), log, { DRAIN_DELAY_MS: String(drainDelayMs) });
  let balancer: Balancer | undefined;
  let isDone = false;
  let current = 'before the first restart';
  const failures: string[] = [];
  const keepAlive: RequestCounts = { sent: 0, failed: 0 };
  const connectionPerRequest: RequestCounts = { sent: 0, failed: 0 };
  const sent = (): number => keepAlive.sent + connectionPerRequest.sent;

  const runClient = async (url: string, nth: number): Promise<void> => {
    const keeps = nth % 2 === 0;
    const agent = keeps ? new Agent({ keepAlive: true, maxSockets: 1 }) : undefined;
    const counted = keeps ? keepAlive : connectionPerRequest;
    await send(url, cluster.token, agent, { method: 'POST', path: features, body: { name: `rolling-${nth}` } });
    for (const one of requestsOf(nth)) {
      if (isDone) break;
      counted.sent++;
      await send(url, cluster.token, agent, one).catch((error: Error) => {
        counted.failed++;
        failures.push(
          `${one.method} ${one.path} (${keeps ? 'keep-alive' : 'new connection'}), ${current}: ${error.message}`,
        );
        log(failures.at(-1) ?? '');
      });
      await sleep(pauseMs);
    }
    agent?.destroy();
  };

  const restart = async (one: ServiceProcess, probed: Balancer): Promise<void> => {
    current = `${one.name} stopping`;
    await one.stop();
    current = `${one.name} starting`;
    await one.start();
    await eventually(
      () => {
        if (probed.ready().length < cluster.urls.length) throw new Error('A gateway is not ready to the balancer yet.');
      },
      { timeoutMs: 60_000 },
    );
    current = `after ${one.name}`;
  };

  try {
    const probed = (balancer = await startBalancer(cluster.urls));
    await eventually(
      () => {
        if (probed.ready().length < cluster.urls.length) throw new Error('A gateway is not ready to the balancer yet.');
      },
      { timeoutMs: 60_000 },
    );
    const load = Promise.all(Array.from({ length: clients }, (_, nth) => runClient(probed.url, nth)));
    const restarting = (async () => {
      for (let round = 1; round <= restarts; round++) {
        for (const service of services) {
          const of = cluster.processesOf(service);
          await restart(of[round % of.length] as ServiceProcess, probed);
        }
        log(`round ${round} of ${restarts}: ${sent()} requests, ${failures.length} failed`);
      }
      while (sent() < requests) await sleep(pauseMs);
    })().finally(() => (isDone = true));
    await Promise.all([load, restarting]);
  } finally {
    isDone = true;
    await balancer?.stop();
    await cluster.stop();
  }
  return { restarts: restarts * services.length, keepAlive, connectionPerRequest, failures };
};

export const formatRollingRestarts = ({
  restarts,
  keepAlive,
  connectionPerRequest,
  failures,
}: RollingRestartReport): string =>
  [
    '',
    `${restarts} rolling restarts`,
    '| clients | requests | failed |',
    '| --- | ---: | ---: |',
    `| keep-alive | ${keepAlive.sent} | ${keepAlive.failed} |`,
    `| a connection per request | ${connectionPerRequest.sent} | ${connectionPerRequest.failed} |`,
    ...failures,
  ].join('\n');

const main = async (): Promise<number> => {
  const { values } = parseArgs({
    options: {
      requests: { type: 'string', default: '2000' },
      restarts: { type: 'string', default: '2' },
      'drain-delay': { type: 'string', default: '3000' },
      clients: { type: 'string', default: '8' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(help);
    return 0;
  }
  process.env['NATS_SERVER'] ??= await ensureNatsServer();
  const folder = mkdtempSync(path.join(os.tmpdir(), 'bunting-rolling-restarts-'));
  const startedAt = performance.now();
  const log = (line: string): void =>
    console.log(`${((performance.now() - startedAt) / 1000).toFixed(1).padStart(7)} s  ${line}`);
  const outcome = await runRollingRestarts({
    requests: Number(values.requests),
    restarts: Number(values.restarts),
    drainDelayMs: Number(values['drain-delay']),
    clients: Number(values.clients),
    folder,
    log,
  });
  console.log(formatRollingRestarts(outcome));
  if (outcome.failures.length > 0) {
    console.log(`Kept: ${folder}`);
    return 1;
  }
  rmSync(folder, { recursive: true, force: true });
  return 0;
};

if (import.meta.main) process.exitCode = await main();
