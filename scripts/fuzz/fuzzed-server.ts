import { killOnParentExit } from '@bunting/embedded-postgres';
import { eventually, reservePort } from '@bunting/testing';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';

const repository = path.join(import.meta.dirname, '..', '..');
const linesKept = 5_000;
const startTimeoutMs = 120_000;

/** The measurements of the process, of which reading them begins the next stretch. */
const p99In = (metrics: string): number | undefined => {
  const seconds = /^nodejs_eventloop_lag_p99_seconds(?:\{[^}]*\})? (\S+)$/m.exec(metrics)?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1_000;
};

/** Starts a Bunting in its own process, with its own data folder, for one fuzz run. */
export const startFuzzedServer = async () => {
  const dataDir = mkdtempSync(path.join(os.tmpdir(), 'bunting-fuzz-'));
  const [port, monitoringPort] = [await reservePort(), await reservePort()];
  const key = `*:*.${randomBytes(32).toString('hex')}`;
  // Ctrl-C is for the run alone, which then stops the server; and however the run ends, the server ends with it.
  const command = [process.execPath, '--max-old-space-size=512', 'apps/all-in-one/src/main.ts'];
  const childCommand = killOnParentExit(command, { signal: 'TERM' });
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
    if (lines.length > linesKept) lines.shift();
  });
  let ended = false;
  const over = new Promise<void>((resolve) => child.once('exit', () => resolve())).then(() => void (ended = true));
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await over;
    child.stdin?.end('\n');
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  };
  const url = `http://127.0.0.1:${port}`;
  const hasStarted = await eventually(
    async () => {
      if (ended) return false;
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
      p99In(await (await fetch(`http://127.0.0.1:${monitoringPort}/metrics`)).text()),
    /** the line of the log that has the error of this id */
    logLineOf: (errorId: string): string | undefined => lines.find((line) => line.includes(errorId)),
    /** the lines of level `error` in the log, oldest first */
    errors: (): readonly string[] => lines.filter((line) => line.includes('"level":50')),
    stop,
  };
};
export type FuzzedServer = Awaited<ReturnType<typeof startFuzzedServer>>;
