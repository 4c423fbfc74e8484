import type { ServiceName } from '@bunting/contracts';
import { monitoringPortKey } from '@bunting/runtime';
import { eventually, reservePort } from '@bunting/testing';
import { appendFileSync } from 'node:fs';
import path from 'node:path';
import { databaseSettingOf } from '../../../apps/all-in-one/src/database-setting.ts';
import { type Program, runProgram } from '../../../apps/all-in-one/test/support/program.ts';
import type { SeededRandom } from '../../seeded-random.ts';
import { type Deliveries, wakeUpDisturber } from './wake-up-disturber.ts';
import { type KillPoint, postgresInterceptor } from './postgres-interceptor.ts';
import { startTcpProxy } from './tcp-proxy.ts';

export interface ServiceProcessOptions {
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
  /** the tree that it first runs from; this repository by default */
  readonly root?: string | undefined;
}

/** Generous, so that only a process that hangs exceeds it, also on a busy machine. */
const readyMs = 180_000;
/** A process that is not ready by then is killed and restarted, as by a start-up probe of Kubernetes. */
const startupProbeMs = 60_000;
/** Interval between log lines while a process is not ready. */
const progressIntervalMs = 15_000;
const stopMs = 30_000;

/** A process that runs the `main.ts` of one service, behind a proxy to NATS and one to PostgreSQL. */
export const createServiceProcess = async (options: ServiceProcessOptions) => {
  const { service, replica, settings, databaseUrl, postgresPort, natsPort, random, folder, log } = options;
  const name = replica === 1 ? service : `${service}-${replica}`;
  const monitoringPort = await reservePort();
  const port = service === 'gateway' ? await reservePort() : undefined;
  const deliveries: Deliveries = { disturbed: false, disturbedCount: 0 };
  let { root } = options;
  let program: Program | undefined;
  let armed: { readonly killPoint: KillPoint; left: number; readonly resolve: () => void } | undefined;
  let wasKilled = false;

  const isRunning = (): boolean => program?.isRunning() === true;

  const onKillPoint = (killPoint: KillPoint): boolean => {
    if (armed?.killPoint !== killPoint || --armed.left > 0) return false;
    program?.signal('SIGKILL');
    wasKilled = true;
    armed.resolve();
    armed = undefined;
    return true;
  };

  const toPostgres = await startTcpProxy(postgresPort, postgresInterceptor(onKillPoint));
  const toNats = await startTcpProxy(natsPort, wakeUpDisturber(deliveries, random.derive(name)));
  const url = new URL(databaseUrl);
  url.port = String(toPostgres.port);

  const waitUntilEnded = async (): Promise<void> => {
    if (program === undefined) return;
    await program.ended;
    program = undefined;
  };

  const isReady = async (): Promise<void> => {
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
    /** address of the API, if it is a gateway */
    url: port === undefined ? undefined : `http://127.0.0.1:${port}`,
    natsProxy: toNats,
    postgresProxy: toPostgres,
    deliveries,
    get pid() {
      return program?.pid ?? 0;
    },
    /** Starts from another tree from now on. */
    useTree: (tree: string): void => void (root = tree),
    /** Starts it, and resolves when it is ready. */
    start: async (): Promise<void> => {
      for (const deadline = performance.now() + readyMs; ;) {
        const environment = {
          ...settings,
          BUS_URL: `nats://127.0.0.1:${toNats.port}`,
          [databaseSettingOf(service).setting]: url.href,
          [monitoringPortKey(service)]: String(monitoringPort),
          ...(port === undefined ? {} : { PORT: String(port) }),
        };
        // A paused process would not handle SIGTERM.
        const started = runProgram(path.join('apps', service, 'src', 'main.ts'), environment, {
          signalOnParentExit: 'KILL',
          ...(root === undefined ? {} : { root }),
        });
        program = started;
        const wasKilled = started.ended.then(() => {
          appendFileSync(path.join(folder, `${name}.log`), `${started.output()}${started.errors()}`);
          return 'ended' as const;
        });
        let why = 'it was not probed yet';
        const probe = (): Promise<void> =>
          isReady().catch((error: Error) => {
            why = error.message;
            throw error;
          });
        const ready = eventually(probe, { timeoutMs: startupProbeMs }).then(
          () => 'ready' as const,
          () => 'late' as const,
        );
        const progress = setInterval(() => log(`${name} is not ready yet: ${why}`), progressIntervalMs);
        const outcome = await Promise.race([wasKilled, ready]).finally(() => clearInterval(progress));
        if (outcome === 'ready') return;
        if (outcome === 'late') {
          if (performance.now() > deadline) throw new Error(why);
          log(`${name} is killed, because it is not ready after ${startupProbeMs / 1_000} s: ${why}`);
          started.signal('SIGKILL');
          await started.ended;
        }
        // A supervisor would restart it; so does this, until the deadline.
        log(`${name} has ended and is restarted`);
        if (performance.now() > deadline)
          throw new Error(`${name} does not start: ${started.output()}${started.errors()}`);
      }
    },
    /** Kills it with SIGKILL. */
    kill: async (): Promise<void> => {
      program?.signal('SIGKILL');
      await waitUntilEnded();
    },
    pause: (): void => program?.signal('SIGSTOP'),
    resume: (): void => program?.signal('SIGCONT'),
    /** Kills it when it reaches a kill point for the nth time from now; `disarm` returns whether that has happened. */
    killAt: (killPoint: KillPoint, left: number): { readonly killed: Promise<void>; disarm(): boolean } => {
      wasKilled = false;
      const killed = new Promise<void>((resolve) => (armed = { killPoint, left, resolve }));
      return {
        killed,
        disarm: () => {
          armed = undefined;
          return wasKilled;
        },
      };
    },
    /** Sends SIGTERM, and SIGKILL after 30 seconds, and waits until it has ended. */
    stop: async (): Promise<void> => {
      if (program === undefined) return;
      program.signal('SIGCONT');
      program.signal('SIGTERM');
      const late = setTimeout(() => program?.signal('SIGKILL'), stopMs);
      await waitUntilEnded();
      clearTimeout(late);
    },
    /** Closes the proxies. */
    close: async (): Promise<void> => {
      await toPostgres.close();
      await toNats.close();
    },
  };
};
export type ServiceProcess = Awaited<ReturnType<typeof createServiceProcess>>;
