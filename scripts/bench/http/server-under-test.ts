import { reservePort } from '@bunting/testing';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** The server under test: a running server, or a new Bunting on an empty data folder. */
export interface ServerUnderTest {
  readonly url: string;
  readonly token: string;
  /** for a new Bunting, the milliseconds from the start until it is ready: of the first start, and of a second one on the same data */
  readonly startMs: readonly number[];
  /** resident memory of the process in MB; undefined for an existing server */
  residentMb(): number | undefined;
  /** seconds of CPU that the process has used so far, in user and kernel mode; undefined for an existing server */
  cpuSeconds(): number | undefined;
  stop(): Promise<void>;
}

/** The unit of CPU times in `/proc` is a hundredth of a second (USER_HZ), whatever the frequency of the kernel's timer. */
const ticksPerSecond = 100;

/** CPU time of a process, from `/proc/<pid>/stat`; undefined where there is no such file. */
export const cpuSecondsOf = (pid: number): number | undefined => {
  const file = `/proc/${pid}/stat`;
  if (!existsSync(file)) return undefined;
  // The second field, the command, is in parentheses and may hold spaces; user and system time are fields 14 and 15.
  const fields = (readFileSync(file, 'utf8').split(') ')[1] ?? '').split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
};

const repository = path.join(import.meta.dirname, '..', '..', '..');
const token = '*:*.bench-0123456789abcdef0123456789abcdef';

/** The arguments of Node.js in the script of `npm start`: without npm, the started process is the server itself. */
const startArguments = (): readonly string[] => {
  const { scripts } = JSON.parse(readFileSync(path.join(repository, 'package.json'), 'utf8')) as {
    scripts: { start: string };
  };
  return scripts.start.replace(/^.*?\bnode /, '').split(' ');
};

const startOnce = async (dataDir: string, settings: Readonly<Record<string, string>>) => {
  const port = await reservePort();
  const startedAt = performance.now();
  const child = spawn(process.execPath, startArguments(), {
    cwd: repository,
    env: {
      ...process.env,
      ...settings,
      PORT: String(port),
      BUNTING_DATA_DIR: dataDir,
      BUNTING_ADMIN_TOKEN: token,
      CHANGE_REQUESTS_ADMIN_TOKENS_REVIEW: 'true',
      CHANGE_REQUESTS_ADMINS_REVIEW_OWN: 'true',
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  let hasExited = false;
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve())).then(
    () => void (hasExited = true),
  );
  const url = `http://127.0.0.1:${port}`;
  const isReady = () =>
    fetch(`${url}/health/ready`).then(
      (response) => response.ok,
      () => false,
    );
  while (!(await isReady())) {
    if (hasExited) throw new Error('Bunting did not start.');
    await sleep(20);
  }
  const stop = async () => {
    child.kill('SIGTERM');
    await exited;
  };
  return { url, pid: child.pid ?? 0, readyMs: performance.now() - startedAt, stop };
};

/** Starts a new Bunting, stops it, and starts it again on the same data. @param settings additional settings of the server */
export const startServerUnderTest = async (
  settings: Readonly<Record<string, string>> = {},
): Promise<ServerUnderTest> => {
  const dataDir = mkdtempSync(path.join(os.tmpdir(), 'bunting-bench-'));
  const firstServer = await startOnce(dataDir, settings);
  await firstServer.stop();
  const server = await startOnce(dataDir, settings);
  return {
    url: server.url,
    token,
    startMs: [firstServer.readyMs, server.readyMs],
    residentMb: () => {
      const line = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'));
      return line === null ? undefined : Math.round(Number(line[1]) / 1024);
    },
    cpuSeconds: () => cpuSecondsOf(server.pid),
    stop: async () => {
      await server.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
};

/** A server that runs already. Its memory and CPU time are not known. */
export const existingServer = (url: string, authorization: string): ServerUnderTest => ({
  url: url.replace(/\/$/, ''),
  token: authorization,
  startMs: [],
  residentMb: () => undefined,
  cpuSeconds: () => undefined,
  stop: async () => undefined,
});

const settlePollMs = 500;
/** An idle platform uses less than this share of a core. */
const idleShare = 0.05;
const settleTimeoutMs = 60_000;

/** Waits until the server has finished the background work of the last requests, which its CPU time shows. At most a minute. */
export const waitUntilSettled = async (target: ServerUnderTest): Promise<void> => {
  const until = performance.now() + settleTimeoutMs;
  for (let before = target.cpuSeconds(); before !== undefined && performance.now() < until;) {
    await sleep(settlePollMs);
    const now = target.cpuSeconds() ?? before;
    if ((now - before) * 1000 < idleShare * settlePollMs) return;
    before = now;
  }
};
