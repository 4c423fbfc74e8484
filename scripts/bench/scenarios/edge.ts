import { commandEndingWithParent } from '@bunting/embedded-postgres';
import { eventually, reservePort } from '@bunting/testing';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { serverAt, type ServerUnderTest } from '../../server-under-test.ts';
import type { BenchFlag } from '../generated-flags.ts';
import { type BenchOptions, seedFlags, send, waitUntilSettled, withServers } from '../run.ts';
import { evaluatedFlag, evaluatedFlags, measureAll, type Poll, tokenOf } from './sdk.ts';
import { closeAll, measureIdleStreams, measureReach } from './streams.ts';

const repository = path.join(import.meta.dirname, '../../..');
const evaluated = 'evaluated';
const startTimeoutMs = 60_000;
const unlimited = {
  GATEWAY_MAX_FRONTEND_REQUESTS_PER_MINUTE: '0',
  GATEWAY_MAX_SDK_STREAMS: '50000',
  GATEWAY_MAX_SDK_STREAMS_PER_CLIENT: '50000',
};
/** As `npm run edge` sets them. */
const allocator = { MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '65536' };
/** An address where nothing listens. */
const nowhere = 'http://127.0.0.1:9';

interface Tokens {
  readonly all: string;
  readonly evaluated: string;
  readonly frontend: string;
}

interface EdgeOptions {
  readonly command: readonly string[];
  readonly upstreamUrl: string;
  readonly tokens: Tokens;
  readonly backupFolder: string;
}

/** Starts an edge, and waits until it serves each token. */
async function startEdge({ command, upstreamUrl, tokens, backupFolder }: EdgeOptions) {
  const port = await reservePort();
  const { command: program, args, stdin } = commandEndingWithParent(command, { signal: 'TERM' });
  const startedAt = performance.now();
  const child = spawn(program, args, {
    detached: true,
    cwd: repository,
    env: {
      ...process.env,
      ...unlimited,
      ...(command[0] === process.execPath ? allocator : {}),
      UPSTREAM_URL: upstreamUrl,
      // The frontend token is within the projects of a client token.
      TOKENS: `${tokens.all},${tokens.evaluated}`,
      PORT: String(port),
      INTERFACE: '127.0.0.1',
      BACKUP_FOLDER: backupFolder,
      LOG_LEVEL: 'error',
    },
    stdio: [stdin, 'inherit', 'inherit'],
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await exited;
    child.stdin?.end('\n');
  };
  const url = `http://127.0.0.1:${port}`;
  try {
    await eventually(
      async () => {
        for (const [address, token] of [
          ['/api/client/features', tokens.all],
          ['/api/client/features', tokens.evaluated],
          ['/api/frontend', tokens.frontend],
        ] as const) {
          const response = await fetch(`${url}${address}`, { headers: { authorization: token } });
          await response.arrayBuffer();
          if (response.status !== 200) throw new Error(`${command.join(' ')} answers ${response.status}.`);
        }
      },
      { timeoutMs: startTimeoutMs },
    );
  } catch (error) {
    await stop();
    throw error;
  }
  return { ...serverAt(url, tokens.all), servesAfterMs: performance.now() - startedAt, stop };
}

/** The polls and evaluations of clients of an edge. */
async function pollsOf({ url }: ServerUnderTest, tokens: Tokens): Promise<readonly Poll[]> {
  const identity = {
    authorization: tokens.all,
    'unleash-client-spec': '5.2.0',
    'accept-encoding': 'identity',
    'unleash-appname': 'bench',
    'unleash-connection-id': 'bench',
  };
  const gzip = { ...identity, 'accept-encoding': 'gzip' };
  const address = '/api/client/features';
  const response = await fetch(`${url}${address}`, { headers: gzip });
  await response.arrayBuffer();
  const known = { ...gzip, 'if-none-match': response.headers.get('etag') ?? '' };
  const ofFrontend = { ...identity, authorization: tokens.frontend };
  return [
    { name: 'full, unchanged', path: address, headers: known },
    { name: 'full, gzip', path: address, headers: gzip },
    { name: 'full, identity', path: address, headers: identity },
    { name: 'frontend of 400 flags', path: '/api/frontend?userId=7&sessionId=8', headers: ofFrontend },
  ];
}

/** Flags of a project that browsers evaluate; their names differ from those of the other project. */
function flagOfFrontend(nth: number): BenchFlag {
  const flag = evaluatedFlag(nth);
  return { ...flag, name: `frontend-${flag.name}` };
}

/** Measures an edge behind a new Bunting, beside another program with the same settings if one is given. */
export function benchEdge(options: BenchOptions & { readonly peer: string | undefined }): Promise<unknown> {
  return withServers(
    { urls: [], token: '' },
    async ([origin]) => {
      const count = options.features ?? 10_000;
      await seedFlags(origin, { count });
      await send(origin, 'POST', '/api/admin/projects', { id: evaluated, name: evaluated });
      await seedFlags(origin, { count: evaluatedFlags, project: evaluated, flagOf: flagOfFrontend });
      const tokens: Tokens = {
        all: await tokenOf(origin, 'client', 'default'),
        evaluated: await tokenOf(origin, 'client', evaluated),
        frontend: await tokenOf(origin, 'frontend', evaluated),
      };
      await waitUntilSettled(origin);
      const folder = mkdtempSync(path.join(os.tmpdir(), 'bunting-edge-bench-'));
      const stops: (() => Promise<void>)[] = [];
      const started = async (command: readonly string[], upstreamUrl: string, name: string) => {
        const edge = await startEdge({ command, upstreamUrl, tokens, backupFolder: path.join(folder, name) });
        stops.push(edge.stop);
        console.log(`${command.join(' ')} serves ${count} flags after ${edge.servesAfterMs.toFixed(0)} ms`);
        return edge;
      };
      const ours = [process.execPath, '--max-semi-space-size=16', 'apps/edge/src/main.ts'];
      try {
        const edge = await started(ours, origin.url, 'first');
        const peer = options.peer === undefined ? [] : [await started(options.peer.split(' '), origin.url, 'peer')];
        const edges = [edge, ...peer];
        const restMb = edges.map((one) => one.residentMb());
        const rows = await measureAll(edges, await Promise.all(edges.map((one) => pollsOf(one, tokens))), options);
        const residentMb = edges.map((one) => one.residentMb());
        for (const [nth, { url }] of edges.entries())
          console.log(`${url}: ${restMb[nth]} MB resident before the polls, ${residentMb[nth]} MB after them`);
        const idle = await measureIdleStreams(edge, tokens.evaluated, options.streams ?? 10_000);
        const flag = `/api/admin/projects/${evaluated}/features/${flagOfFrontend(0).name}`;
        const second = await started(ours, edge.url, 'second');
        const reach = [];
        for (const one of [edge, second]) {
          const { streams, ...figures } = await measureReach(origin, one, { token: tokens.evaluated, flag });
          await closeAll(streams);
          reach.push(figures);
        }
        await edge.stop();
        const { servesAfterMs } = await started(ours, nowhere, 'first');
        return { date: new Date().toISOString(), count, rows, restMb, residentMb, idle, reach, servesAfterMs };
      } finally {
        for (const stop of stops) await stop();
        rmSync(folder, { recursive: true, force: true });
      }
    },
    unlimited,
  );
}
