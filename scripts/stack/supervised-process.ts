import { commandEndingWithParent } from '@bunting/embedded-postgres';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

interface SupervisedProcessOptions {
  readonly name: string;
  readonly command: readonly string[];
  readonly folder: string;
  readonly environment: NodeJS.ProcessEnv;
  /** called with each line that the process prints, and with one for each restart */
  readonly show: (line: string) => void;
  /** after this number of consecutive failures the process is not restarted; no limit by default */
  readonly maxFailures?: number;
}

const stopTimeoutMs = 30_000;
const firstDelayMs = 500;
const maxDelayMs = 30_000;
/** A process that ran for this long was healthy: the backoff starts at its minimum after it. */
const healthyAfterMs = 60_000;

function launch({ command, folder, environment, show }: SupervisedProcessOptions) {
  const childCommand = commandEndingWithParent(command, { signal: 'TERM' });
  // Ctrl-C reaches the supervisor alone, which then stops the processes in their order.
  const child = spawn(childCommand.command, childCommand.args, {
    cwd: folder,
    env: environment,
    stdio: [childCommand.stdin, 'pipe', 'pipe'],
    detached: true,
  });
  for (const stream of [child.stdout, child.stderr]) {
    if (stream !== null) createInterface({ input: stream }).on('line', show);
  }
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => {
      child.stdin?.end('\n');
      resolve(signal === null ? `exit code ${code}` : `signal ${signal}`);
    });
  });
  return { child, ended };
}
/** A started process, and how it ended, in words. */
type Run = ReturnType<typeof launch>;

async function end({ child, ended }: Run): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  const killTimer = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs);
  await ended;
  clearTimeout(killTimer);
}

/** Starts a process, restarts it when it ends, and stops it when this process ends. */
export function superviseProcess(options: SupervisedProcessOptions) {
  const { name, show, maxFailures = Number.POSITIVE_INFINITY } = options;
  const stopping = new AbortController();
  let run = launch(options);
  const firstEnded = run.ended.then(() => undefined);

  const supervise = async (): Promise<string> => {
    for (let failures = 1, startedAt = performance.now(); ; failures++) {
      const outcome = await run.ended;
      if (stopping.signal.aborted) return new Promise(() => undefined);
      if (performance.now() - startedAt > healthyAfterMs) failures = 1;
      if (failures >= maxFailures) return `${name} ended ${failures} times in a row, last with ${outcome}.`;
      const delayMs = Math.min(maxDelayMs, firstDelayMs * 2 ** (failures - 1));
      show(`ended with ${outcome}; restarting it in ${delayMs / 1000} s`);
      await sleep(delayMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      if (stopping.signal.aborted) return new Promise(() => undefined);
      startedAt = performance.now();
      run = launch(options);
    }
  };

  return {
    name,
    /** Resolves with a sentence when the process has failed so often in a row that it is not restarted any more. */
    failed: supervise(),
    /** Resolves when the process that was started first has ended: before it was ready, the start has failed. */
    firstEnded,
    /** Stops the process with SIGTERM, and with SIGKILL after 30 seconds. */
    stop: async (): Promise<void> => {
      stopping.abort();
      await end(run);
    },
  };
}
export type SupervisedProcess = ReturnType<typeof superviseProcess>;
