import { execFileSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync } from 'node:fs';
import { Agent, request } from 'node:http';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiToken } from '@bunting/contracts';
import { type Balancer, eventually, openEventStream, startBalancer } from '@bunting/testing';
import { repository } from '../../apps/all-in-one/test/support/platform.ts';
import { startCluster } from './cluster.ts';
import { seededRandom } from './seeded-random.ts';
import type { ServiceProcess } from './service-process.ts';

interface RollingRestartsOptions {
  /** minimum number of requests */
  readonly requests: number;
  /** rounds in which each service is restarted; more until `minutes` have passed */
  readonly restarts: number;
  readonly minutes?: number;
  /**
   * The source trees of two versions. The first is started; then each round replaces every process of every service, one by one, by the
   * other version. The last round ends with the second.
   */
  readonly versions?: readonly [string, string];
  /** folder for data and logs */
  readonly folder: string;
  readonly drainDelayMs?: number;
  readonly clients?: number;
  /** the pause between two requests of a client */
  readonly pauseMs?: number;
  /** the services that have two processes, which are restarted one after the other; by default all of them */
  readonly services?: readonly (typeof servicesInUpgradeOrder)[number][];
  readonly log?: (line: string) => void;
}

/** The requests of one kind of client. */
interface RequestCounts {
  sent: number;
  failed: number;
}

interface RollingRestartReport {
  readonly restarts: number;
  readonly keepAlive: Readonly<RequestCounts>;
  readonly connectionPerRequest: Readonly<RequestCounts>;
  /** streams of SDKs, each opened again when its gateway has ended it */
  readonly streams: Readonly<RequestCounts>;
  /** each failed request and broken stream, with the process that was being restarted */
  readonly failures: readonly string[];
  /** acknowledged writes that were verified at the end */
  readonly writes: number;
  /** each acknowledged write that was not found at the end */
  readonly lost: readonly string[];
}

/** A request to the API. */
interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
}

/** The order of upgrades (docs/upgrading.md, docker/replace.sh). */
export const servicesInUpgradeOrder = [
  'features',
  'gateway',
  'audit',
  'search',
  'change-requests',
  'integrations',
] as const;
const features = '/api/admin/projects/default/features';
/** The interval at which a stream, or the number of requests, is looked at. */
const pollMs = 60;
const requestTimeoutMs = 60_000;

/** Sends one request without retries. Resolves with the body, or rejects with the error. */
function send(
  url: string,
  token: string,
  agent: Agent | undefined,
  { method, path, body }: ApiRequest,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const headers = {
      authorization: token,
      ...(text === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
    };
    const options = { method, headers, agent: agent ?? false, timeout: requestTimeoutMs };
    const outgoing = request(`${url}${path}`, options, (response) => {
      let reply = '';
      response
        .setEncoding('utf8')
        .on('data', (piece: string) => (reply += piece))
        .once('error', reject)
        .once('end', () => {
          const { statusCode = 0 } = response;
          if (statusCode < 400) resolve(reply);
          else reject(new Error(`${statusCode} ${reply.slice(0, 200)}`));
        });
    });
    outgoing.once('error', reject).once('timeout', () => outgoing.destroy(new Error('no response in time')));
    outgoing.end(text);
  });
}

/** The last acknowledged values that a client wrote, and its acknowledged writes. */
interface AcknowledgedWrites {
  description: string | undefined;
  enabled: boolean | undefined;
  readonly features: string[];
  readonly cancelledRequests: number[];
  /** how many writes emitted an event, by type of the event */
  readonly events: Map<string, number>;
  writes: number;
}

const changeRequests = '/api/admin/projects/default/change-requests';
const proposals = '/api/admin/projects/default/environments/development/change-requests';

/** A request, and its effect on the expected state. */
interface Step extends ApiRequest {
  readonly event?: string;
  readonly onReply?: (reply: string) => void;
}

/** The requests of one client: reads and writes of every service. The draft of change requests belongs to the first client. */
const requestsOf = function* (client: number, acknowledged: AcknowledgedWrites): Generator<Step, never> {
  const feature = `rolling-${client}`;
  for (let nth = 0; ; nth++) {
    yield {
      method: 'PATCH',
      path: `${features}/${feature}`,
      body: [{ op: 'replace', path: '/description', value: `${nth}` }],
      event: 'feature-metadata-updated',
      onReply: () => (acknowledged.description = `${nth}`),
    };
    yield { method: 'GET', path: `${features}/${feature}` };
    yield { method: 'GET', path: `/api/admin/search/features?query=${feature}` };
    const enabled = nth % 2 === 0;
    yield {
      method: 'POST',
      path: `${features}/${feature}/environments/development/${enabled ? 'on' : 'off'}`,
      event: enabled ? 'feature-environment-enabled' : 'feature-environment-disabled',
      onReply: () => (acknowledged.enabled = enabled),
    };
    yield { method: 'GET', path: '/api/client/features?environment=development' };
    yield { method: 'POST', path: '/api/admin/events/search', body: { feature, limit: 1 } };
    yield { method: 'GET', path: `${changeRequests}/pending` };
    if (nth % 8 === 0) {
      const name = `${feature}-${nth}`;
      yield { method: 'POST', path: features, body: { name }, onReply: () => acknowledged.features.push(name) };
    }
    if (client === 0) {
      let id = 0;
      yield {
        method: 'POST',
        path: proposals,
        body: { feature, action: 'updateEnabled', payload: { enabled: !enabled } },
        onReply: (reply) => (id = (JSON.parse(reply) as { id: number }).id),
      };
      yield {
        method: 'PUT',
        path: `${changeRequests}/${id}/state`,
        body: { state: 'Cancelled' },
        onReply: () => acknowledged.cancelledRequests.push(id),
      };
    }
  }
};

/** Restarts every service under load. Each has two processes, one of which is always running. */
export async function runRollingRestarts({
  requests,
  restarts,
  minutes = 0,
  versions,
  folder,
  drainDelayMs = 3_000,
  clients = 8,
  pauseMs = 60,
  services = servicesInUpgradeOrder,
  log = () => undefined,
}: RollingRestartsOptions): Promise<RollingRestartReport> {
  mkdirSync(folder, { recursive: true });
  // No request of the clients needs the integrations.
  const fewest = (service: (typeof servicesInUpgradeOrder)[number]): number => (service === 'integrations' ? 0 : 1);
  const scale = Object.fromEntries(
    servicesInUpgradeOrder.map((service) => [service, services.includes(service) ? 2 : fewest(service)]),
  );
  const settings = { DRAIN_DELAY_MS: String(drainDelayMs), CHANGE_REQUESTS_VOLUNTARY: 'true' };
  const cluster = await startCluster({ folder, scale, random: seededRandom(1), log, settings, root: versions?.[0] });
  let balancer: Balancer | undefined;
  let isDone = false;
  /** what happens to processes now, for the messages of failures */
  let phase = 'before the first restart';
  const failures: string[] = [];
  const lost: string[] = [];
  let writes = 0;
  let restarted = 0;
  const keepAlive: RequestCounts = { sent: 0, failed: 0 };
  const connectionPerRequest: RequestCounts = { sent: 0, failed: 0 };
  const streams: RequestCounts = { sent: 0, failed: 0 };
  const sent = (): number => keepAlive.sent + connectionPerRequest.sent;

  const runClient = async (url: string, nth: number): Promise<AcknowledgedWrites> => {
    const keepsConnection = nth % 2 === 0;
    const agent = keepsConnection ? new Agent({ keepAlive: true, maxSockets: 1 }) : undefined;
    const counts = keepsConnection ? keepAlive : connectionPerRequest;
    const acknowledged: AcknowledgedWrites = {
      description: undefined,
      enabled: undefined,
      features: [],
      cancelledRequests: [],
      events: new Map(),
      writes: 0,
    };
    await send(url, cluster.token, agent, { method: 'POST', path: features, body: { name: `rolling-${nth}` } });
    for (const step of requestsOf(nth, acknowledged)) {
      if (isDone) break;
      counts.sent++;
      try {
        const reply = await send(url, cluster.token, agent, step);
        step.onReply?.(reply);
        if (step.onReply !== undefined) acknowledged.writes++;
        if (step.event !== undefined)
          acknowledged.events.set(step.event, (acknowledged.events.get(step.event) ?? 0) + 1);
      } catch (error) {
        counts.failed++;
        failures.push(
          `${step.method} ${step.path} (${keepsConnection ? 'keep-alive' : 'new connection'}), ${phase}: ${(error as Error).message}`,
        );
        log(failures.at(-1) ?? '');
      }
      await sleep(pauseMs);
    }
    agent?.destroy();
    return acknowledged;
  };

  /**
   * Keeps a stream open as an SDK does, until the end. A gateway that stops ends its streams, and takes no new ones; what it breaks off is a failure,
   * and so is everything once more for an SDK that has an earlier state.
   */
  const keepStream = async (url: string, secret: string): Promise<void> => {
    let revision: string | undefined;
    while (!isDone) {
      const faults: string[] = [];
      const stream = await openEventStream(
        `${url}/api/client/streaming`,
        { authorization: secret, ...(revision === undefined ? {} : { 'last-event-id': revision }) },
        ({ id, data }) => {
          if (revision !== undefined && data.includes('"hydration"')) faults.push('everything was sent again');
          revision = id ?? revision;
        },
      ).catch((error: unknown) => void faults.push(`not opened: ${(error as Error).message}`));
      if (stream?.status === 200) streams.sent++;
      else if (stream !== undefined && stream.status !== 503) faults.push(`answered ${stream.status}`);
      while (!isDone && stream?.isEnded() === false) await Promise.race([stream.ended, sleep(pollMs)]);
      if (stream?.isEnded() === true && !stream.isComplete()) faults.push('broken off');
      stream?.close();
      streams.failed += faults.length;
      failures.push(...faults.map((fault) => `a stream, ${phase}: ${fault}`));
      await sleep(pollMs);
    }
  };

  /** Compares the state of the platform with the writes that it acknowledged to a client. */
  const verify = async (url: string, nth: number, acknowledged: AcknowledgedWrites): Promise<void> => {
    const read = async <T>(one: ApiRequest): Promise<T> =>
      JSON.parse(await send(url, cluster.token, undefined, one)) as T;
    const feature = `rolling-${nth}`;
    const expectSame = (subject: string, stored: unknown, expected: unknown): void => {
      if (stored !== expected) lost.push(`${subject}: acknowledged ${String(expected)}, stored ${String(stored)}`);
    };
    const state = await read<{ description?: string; environments: { name: string; enabled: boolean }[] }>({
      method: 'GET',
      path: `${features}/${feature}`,
    });
    expectSame(`description of ${feature}`, state.description, acknowledged.description);
    const { enabled } = state.environments.find(({ name }) => name === 'development') ?? {};
    expectSame(`${feature} in development`, enabled, acknowledged.enabled);
    const found = await read<{ features: { name: string }[] }>({
      method: 'GET',
      path: `/api/admin/search/features?query=${feature}-&limit=100`,
    });
    const names = new Set(found.features.map(({ name }) => name));
    for (const name of acknowledged.features.slice(0, 90)) expectSame(`${name} in the search`, names.has(name), true);
    for (const [type, count] of acknowledged.events) {
      const query = { method: 'POST', path: '/api/admin/events/search', body: { feature, type, limit: 1 } };
      expectSame(`${type} of ${feature}`, (await read<{ totalEvents: number }>(query)).totalEvents, count);
    }
    for (const id of acknowledged.cancelledRequests) {
      const request = await read<{ state: string }>({ method: 'GET', path: `${changeRequests}/${id}` });
      expectSame(`change request ${id}`, request.state, 'Cancelled');
    }
    writes += acknowledged.writes;
  };

  const restart = async (one: ServiceProcess, activeBalancer: Balancer): Promise<void> => {
    phase = `${one.name} stopping`;
    await one.stop();
    phase = `${one.name} starting`;
    await one.start();
    await eventually(
      () => {
        if (activeBalancer.ready().length < cluster.urls.length)
          throw new Error('A gateway is not ready to the balancer yet.');
      },
      { timeoutMs: 60_000 },
    );
    phase = `after ${one.name}`;
    restarted++;
  };

  /** Replaces every process by the version, upwards in the order of upgrades and back in reverse. */
  const replaceAll = async (version: string, isUpgrade: boolean, activeBalancer: Balancer): Promise<void> => {
    for (const service of isUpgrade ? servicesInUpgradeOrder : servicesInUpgradeOrder.toReversed()) {
      for (const one of cluster.processesOf(service)) {
        one.useTree(version);
        await restart(one, activeBalancer);
      }
    }
  };

  try {
    const activeBalancer = (balancer = await startBalancer(cluster.urls));
    await eventually(
      () => {
        if (activeBalancer.ready().length < cluster.urls.length)
          throw new Error('A gateway is not ready to the balancer yet.');
      },
      { timeoutMs: 60_000 },
    );
    const token = { tokenName: 'rolling', type: 'client', environment: 'development', projects: ['*'] };
    const tokens = { method: 'POST', path: '/api/admin/api-tokens', body: token };
    const { secret } = JSON.parse(await send(activeBalancer.url, cluster.token, undefined, tokens)) as ApiToken;
    const load = Promise.all(Array.from({ length: clients }, (_, nth) => runClient(activeBalancer.url, nth)));
    const streaming = Promise.all(Array.from({ length: clients }, () => keepStream(activeBalancer.url, secret)));
    const restarting = (async () => {
      const endsAt = performance.now() + minutes * 60_000;
      const isLast = (round: number): boolean =>
        round >= restarts && performance.now() >= endsAt && (versions === undefined || round % 2 === 1);
      for (let round = 1, isOver = restarts === 0; !isOver; round++) {
        if (versions !== undefined) await replaceAll(versions[round % 2] ?? '', round % 2 === 1, activeBalancer);
        else {
          for (const service of services) {
            const replicas = cluster.processesOf(service);
            await restart(replicas[round % replicas.length] as ServiceProcess, activeBalancer);
          }
        }
        isOver = isLast(round);
        log(`round ${round}: ${sent()} requests, ${failures.length} failed`);
      }
      while (sent() < requests) await sleep(pollMs);
    })().finally(() => (isDone = true));
    const [acknowledged] = await Promise.all([load, restarting, streaming]);
    // The outcome of a failed request is unknown, so a client with a failed request has no expected state.
    if (failures.length === 0)
      for (const [nth, expected] of acknowledged.entries()) await verify(activeBalancer.url, nth, expected);
  } finally {
    isDone = true;
    await balancer?.stop();
    await cluster.stop();
  }
  return { restarts: restarted, keepAlive, connectionPerRequest, streams, failures, writes, lost };
}

export function formatRollingRestarts({
  restarts,
  keepAlive,
  connectionPerRequest,
  streams,
  failures,
  writes,
  lost,
}: RollingRestartReport): string {
  return [
    '',
    `${restarts} rolling restarts`,
    '| clients | requests | failed |',
    '| --- | ---: | ---: |',
    `| keep-alive | ${keepAlive.sent} | ${keepAlive.failed} |`,
    `| a connection per request | ${connectionPerRequest.sent} | ${connectionPerRequest.failed} |`,
    `| streams | ${streams.sent} | ${streams.failed} |`,
    ...failures,
    failures.length > 0
      ? 'Writes were not verified, because the outcome of failed requests is unknown.'
      : `${writes} acknowledged writes verified, ${lost.length} lost`,
    ...lost,
  ].join('\n');
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: repository, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
}
function gitSucceeds(...args: readonly string[]): boolean {
  try {
    git(...args);
    return true;
  } catch {
    return false;
  }
}

/** The files that define the schemas of the databases. */
const migrationFiles = [
  'apps/*/src/migrations/*.ts',
  'apps/*/src/persistence/migrations/*.ts',
  'libs/outbox/src/schema.ts',
  'libs/outbox/src/idempotency/idempotency-store.ts',
];
const maxCommitsBack = 20;

/**
 * The commit that stands for the previous version: the last tag `v…`, else the commit 20 before HEAD. Before the first release, initial
 * migrations are edited in place: if they have changed since that commit, it is the newest commit that changed them.
 */
export function previousVersionCommit(): string {
  const commitsBack = Math.min(maxCommitsBack, Number(git('rev-list', '--count', '--first-parent', 'HEAD')) - 1);
  const candidate = gitSucceeds('describe', '--tags', '--match', 'v*', 'HEAD')
    ? git('describe', '--tags', '--abbrev=0', '--match', 'v*', 'HEAD')
    : `HEAD~${commitsBack}`;
  return gitSucceeds('diff', '--quiet', candidate, 'HEAD', '--', ...migrationFiles)
    ? git('rev-parse', candidate)
    : git('log', '-1', '--format=%H', '--', ...migrationFiles);
}

/** Creates the source tree of a commit in a folder, with its dependencies: links to those of this tree if the lock file is the same. */
export function createVersionSourceTree(ref: string, folder: string): void {
  mkdirSync(folder, { recursive: true });
  const archive = execFileSync('git', ['archive', '--format=tar', ref], { cwd: repository, maxBuffer: 1024 ** 3 });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  const hasSameLock = gitSucceeds('diff', '--quiet', ref, '--', 'package-lock.json');
  const isLinked =
    hasSameLock &&
    globSync('{.,apps/*,libs/*}/node_modules', { cwd: repository })
      .filter((modules) => existsSync(path.join(folder, path.dirname(modules))))
      .every((modules) => {
        try {
          execFileSync('cp', ['-al', path.join(repository, modules), path.join(folder, modules)], { stdio: 'ignore' });
          return true;
        } catch {
          return false;
        }
      });
  if (isLinked) return;
  const install = ['ci', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];
  execFileSync('npm', install, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
}
