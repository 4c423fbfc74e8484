import type { ServiceName } from '@bunting/contracts';
import { monitoringPortKey } from '@bunting/runtime';
import { eventually, reservePort, startTcpProxy } from '@bunting/testing';
import { appendFileSync } from 'node:fs';
import path from 'node:path';
import { databaseSettingOf } from '../../apps/all-in-one/src/database-setting.ts';
import { type Program, runProgram } from '../../apps/all-in-one/test/support/platform.ts';
import type { SeededRandom } from './seeded-random.ts';
import { type WakeUpDisturbance, delayAndDuplicateWakeUps, type KillPoint, postgresInterceptor } from './proxies.ts';

interface ServiceProcessOptions {
  readonly service: ServiceName;
  readonly replica: number;
  readonly settings: Readonly<Record<string, string>>;
  readonly databaseUrl: string;
  readonly postgresPort: () => number;
  readonly natsPort: () => number;
  readonly random: SeededRandom;
  /** folder for the output of the process */
  readonly folder: string;
  readonly log: (line: string) => void;
  /** the source tree that it first runs from; this repository by default */
  readonly root?: string | undefined;
}

/** The timeout of a start with its restarts. Generous, so that only a process that hangs exceeds it, also on a busy machine. */
const readyTimeoutMs = 180_000;
/** A process that is not ready by then is killed and restarted, as by a start-up probe of Kubernetes. */
const startupProbeMs = 60_000;
/** Interval between log lines while a process is not ready. */
const progressIntervalMs = 15_000;
/** A process that has not ended so long after SIGTERM is killed. */
const stopTimeoutMs = 30_000;

/** A process that runs the `main.ts` of one service, behind a proxy to NATS and one to PostgreSQL. */
export async function createServiceProcess(options: ServiceProcessOptions) {
  const { service, replica, settings, databaseUrl, postgresPort, natsPort, random, folder, log } = options;
  const name = replica === 1 ? service : `${service}-${replica}`;
  const monitoringPort = await reservePort();
  const port = service === 'gateway' ? await reservePort() : undefined;
  const wakeUpDisturbance: WakeUpDisturbance = { isActive: false, count: 0 };
  let { root } = options;
  let program: Program | undefined;
  /** the kill that is triggered when a kill point was reached `left` times */
  let armedKill: { readonly killPoint: KillPoint; left: number; readonly resolve: () => void } | undefined;
  let wasKilled = false;

  const isRunning = (): boolean => program?.isRunning() === true;

  const onKillPoint = (killPoint: KillPoint): boolean => {
    if (armedKill?.killPoint !== killPoint || --armedKill.left > 0) return false;
    program?.signal('SIGKILL');
    wasKilled = true;
    armedKill.resolve();
    armedKill = undefined;
    return true;
  };

  const toPostgres = await startTcpProxy(postgresPort, postgresInterceptor(onKillPoint));
  const toNats = await startTcpProxy(natsPort, delayAndDuplicateWakeUps(wakeUpDisturbance, random.derive(name)));
  const url = new URL(databaseUrl);
  url.port = String(toPostgres.port);

  const waitUntilEnded = async (): Promise<void> => {
    if (program === undefined) return;
    await program.ended;
    program = undefined;
  };

  const requireReady = async (): Promise<void> => {
    if (!isRunning()) throw new Error(`${name} has ended.`);
    const response = await fetch(`http://127.0.0.1:${monitoringPort}/health/ready`, {
      signal: AbortSignal.timeout(2_000),
    });
    if (!response.ok) throw new Error(`${name} is not ready: ${await response.text()}`);
  };

  return {
    /** `features`, `features-2`, … */
    name,
    service,
    /** the URL of the API, if it is a gateway */
    url: port === undefined ? undefined : `http://127.0.0.1:${port}`,
    natsProxy: toNats,
    postgresProxy: toPostgres,
    wakeUpDisturbance,
    get pid() {
      return program?.pid ?? 0;
    },
    /** Sets the source tree from which later starts run the process. */
    useTree: (tree: string): void => void (root = tree),
    /** Starts the process, and resolves when it is ready. */
    start: async (): Promise<void> => {
      for (const deadline = performance.now() + readyTimeoutMs; ;) {
        const environment = {
          ...settings,
          BUS_URL: `nats://127.0.0.1:${toNats.port}`,
          [databaseSettingOf(service).setting]: url.href,
          [monitoringPortKey(service)]: String(monitoringPort),
          ...(port === undefined ? {} : { PORT: String(port) }),
        };
        // SIGKILL, because a paused process does not handle SIGTERM.
        const started = runProgram(path.join('apps', service, 'src', 'main.ts'), environment, {
          signalOnParentExit: 'KILL',
          ...(root === undefined ? {} : { root }),
        });
        program = started;
        const exited = started.ended.then(() => {
          appendFileSync(path.join(folder, `${name}.log`), `${started.output()}${started.errors()}`);
          return 'ended' as const;
        });
        let reason = 'it was not probed yet';
        const probe = (): Promise<void> =>
          requireReady().catch((error: Error) => {
            reason = error.message;
            throw error;
          });
        const ready = eventually(probe, { timeoutMs: startupProbeMs }).then(
          () => 'ready' as const,
          () => 'late' as const,
        );
        const progress = setInterval(() => log(`${name} is not ready yet: ${reason}`), progressIntervalMs);
        const outcome = await Promise.race([exited, ready]).finally(() => clearInterval(progress));
        if (outcome === 'ready') return;
        if (outcome === 'late') {
          if (performance.now() > deadline) throw new Error(reason);
          log(`${name} is killed, because it is not ready after ${startupProbeMs / 1_000} s: ${reason}`);
          started.signal('SIGKILL');
          await started.ended;
        }
        // The next round starts it again, as a supervisor would, until the deadline.
        log(`${name} has ended and is restarted`);
        if (performance.now() > deadline)
          throw new Error(`${name} does not start: ${started.output()}${started.errors()}`);
      }
    },
    /** Kills the process with SIGKILL. */
    kill: async (): Promise<void> => {
      program?.signal('SIGKILL');
      await waitUntilEnded();
    },
    pause: (): void => program?.signal('SIGSTOP'),
    resume: (): void => program?.signal('SIGCONT'),
    /** Kills the process when it has reached a kill point so many times from now; `disarm` returns whether that has happened. */
    killAt: (killPoint: KillPoint, times: number): { readonly killed: Promise<void>; disarm(): boolean } => {
      wasKilled = false;
      const killed = new Promise<void>((resolve) => (armedKill = { killPoint, left: times, resolve }));
      return {
        killed,
        disarm: () => {
          armedKill = undefined;
          return wasKilled;
        },
      };
    },
    /** Sends SIGTERM, and SIGKILL after 30 seconds, and waits until the process has ended. */
    stop: async (): Promise<void> => {
      if (program === undefined) return;
      program.signal('SIGCONT');
      program.signal('SIGTERM');
      const killTimer = setTimeout(() => program?.signal('SIGKILL'), stopTimeoutMs);
      await waitUntilEnded();
      clearTimeout(killTimer);
    },
    /** Closes the proxies. */
    close: async (): Promise<void> => {
      await toPostgres.stop();
      await toNats.stop();
    },
  };
}
export type ServiceProcess = Awaited<ReturnType<typeof createServiceProcess>>;
