import { commandEndingWithParent } from '@bunting/embedded-postgres';
import { eventually, reservePort } from '@bunting/testing';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';

const repository = path.join(import.meta.dirname, '..', '..');
const maxLogLines = 5_000;
const startTimeoutMs = 120_000;

/** The 99th percentile of the event loop delay in the metrics of the process, in milliseconds. Each scrape starts a new measurement. */
const eventLoopP99In = (metrics: string): number | undefined => {
  const seconds = /^nodejs_eventloop_lag_p99_seconds(?:\{[^}]*\})? (\S+)$/m.exec(metrics)?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1_000;
};

/** Starts a Bunting server in its own process, with its own data folder, for one fuzz run. */
export const startFuzzedServer = async () => {
  const dataDir = mkdtempSync(path.join(os.tmpdir(), 'bunting-fuzz-'));
  const [port, monitoringPort] = [await reservePort(), await reservePort()];
  const key = `*:*.${randomBytes(32).toString('hex')}`;
  // Ctrl-C must reach only the run, which then stops the server, so the server is detached. If the run is killed, the server ends too.
  const command = [process.execPath, '--max-old-space-size=512', 'apps/all-in-one/src/main.ts'];
  const childCommand = commandEndingWithParent(command, { signal: 'TERM' });
  const child = spawn(childCommand.command, childCommand.args, {
    detached: true,
    cwd: repository,
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      PORT: String(port),
      GATEWAY_HOST: '127.0.0.1',
      FEATURES_OPS_PORT: String(monitoringPort),
      BUNTING_DATA_DIR: dataDir,
      BUNTING_ADMIN_TOKEN: key,
      CHANGE_REQUESTS_ADMIN_TOKENS_REVIEW: 'true',
      CHANGE_REQUESTS_ADMINS_REVIEW_OWN: 'true',
      GATEWAY_MAX_UNAUTHENTICATED_REQUESTS_PER_MINUTE: '0',
      LOG_LEVEL: 'warn',
    },
    stdio: [childCommand.stdin, 'pipe', 'inherit'],
  });
  const lines: string[] = [];
  createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
    lines.push(line);
    if (lines.length > maxLogLines) lines.shift();
  });
  let hasExited = false;
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve())).then(
    () => void (hasExited = true),
  );
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await exited;
    child.stdin?.end('\n');
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  };
  const url = `http://127.0.0.1:${port}`;
  const hasStarted = await eventually(
    async () => {
      if (hasExited) return false;
      const { status } = await fetch(`${url}/health/ready`);
      if (status !== 200) throw new Error(`/health/ready returns ${status}.`);
      return true;
    },
    { timeoutMs: startTimeoutMs },
  ).catch(() => false);
  if (!hasStarted) {
    await stop();
    throw new Error(`Bunting did not start.\n${lines.join('\n')}`);
  }
  return {
    url,
    key,
    /** the 99th percentile of the event loop delay since the last call, in milliseconds, the sampling interval of 10 ms included */
    eventLoopP99Ms: async (): Promise<number | undefined> =>
      eventLoopP99In(await (await fetch(`http://127.0.0.1:${monitoringPort}/metrics`)).text()),
    /** the log line of the error with this id, which an error response has */
    logLineOf: (errorId: string): string | undefined => lines.find((line) => line.includes(errorId)),
    /** the errors in the log, oldest first */
    errors: (): readonly string[] => lines.filter((line) => /"level":"(error|fatal)"/.test(line)),
    stop,
  };
};
export type FuzzedServer = Awaited<ReturnType<typeof startFuzzedServer>>;
