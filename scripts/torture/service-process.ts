import { eventually } from '@bunting/testing';
import { appendFileSync } from 'node:fs';
import path from 'node:path';
import { type Program, runProgram } from '../../apps/all-in-one/test/program.ts';
import { quietPort } from '../../apps/all-in-one/test/quiet-port.ts';
import type { Chance } from './chance.ts';
import { type Deliveries, natsReader } from './nats-wire.ts';
import { type Moment, postgresReader } from './postgres-wire.ts';
import { type Wire, wireTo } from './wire.ts';

/** A process of one service, at the end of two wires. It runs the service's own `main.ts`, which knows nothing of them. */
export interface ServiceProcess {
  /** `features`, `features-2`, … */
  readonly name: string;
  readonly service: string;
  /** of a gateway: where the API is */
  readonly url: string | undefined;
  readonly toNats: Wire;
  readonly toPostgres: Wire;
  readonly deliveries: Deliveries;
  readonly pid: number;
  /** Starts it, and resolves when it is ready. */
  start(): Promise<void>;
  /** Ends it at once. */
  kill(): Promise<void>;
  freeze(): void;
  thaw(): void;
  /** Lets it be killed when it comes to a moment for the nth time from now; `disarm` says whether that has happened. */
  arm(moment: Moment, nth: number): { readonly fell: Promise<void>; disarm(): boolean };
  /** Asks it to end, and waits until it has. */
  stop(): Promise<void>;
  /** Ends the wires. */
  close(): Promise<void>;
}

export interface ServiceProcessOptions {
  readonly service: string;
  readonly nth: number;
  readonly settings: Readonly<Record<string, string>>;
  readonly databaseUrl: (service: string) => string;
  readonly postgresPort: () => number;
  readonly natsPort: () => number;
  readonly chance: Chance;
  /** a folder for what the process prints */
  readonly folder: string;
  readonly say: (line: string) => void;
}

/** Generous: it says that a process hangs, and not that the machine has much to do. */
const readyMs = 180_000;
/** How often to say why a process is not ready yet. */
const explainedEveryMs = 15_000;
const stopMs = 30_000;

export const serviceProcess = async (options: ServiceProcessOptions): Promise<ServiceProcess> => {
  const { service, nth, settings, databaseUrl, postgresPort, natsPort, chance, folder, say } = options;
  const name = nth === 1 ? service : `${service}-${nth}`;
  const prefix = service.toUpperCase().replaceAll('-', '_');
  const operationsPort = await quietPort();
  const port = service === 'gateway' ? await quietPort() : undefined;
  const deliveries: Deliveries = { disturbed: false, count: 0 };
  let program: Program | undefined;
  let trap: { readonly moment: Moment; left: number; readonly fall: () => void } | undefined;
  let fallen = false;

  const isRunning = (): boolean => program?.isRunning() === true;

  const atMoment = (moment: Moment): boolean => {
    if (trap?.moment !== moment || --trap.left > 0) return false;
    program?.signal('SIGKILL');
    fallen = true;
    trap.fall();
    trap = undefined;
    return true;
  };

  const toPostgres = await wireTo(postgresPort, postgresReader(atMoment));
  const toNats = await wireTo(natsPort, natsReader(deliveries, chance.for(name)));
  const url = new URL(databaseUrl(service));
  url.port = String(toPostgres.port);

  const ended = async (): Promise<void> => {
    if (program === undefined) return;
    await program.ended;
    program = undefined;
  };

  const isReady = async (): Promise<void> => {
    if (!isRunning()) throw new Error(`${name} has ended.`);
    const answer = await fetch(`http://127.0.0.1:${operationsPort}/health/ready`, {
      signal: AbortSignal.timeout(2_000),
    });
    if (!answer.ok) throw new Error(`${name} is not ready: ${await answer.text()}`);
  };

  return {
    name,
    service,
    url: port === undefined ? undefined : `http://127.0.0.1:${port}`,
    toNats,
    toPostgres,
    deliveries,
    get pid() {
      return program?.pid ?? 0;
    },
    start: async () => {
      for (const deadline = performance.now() + readyMs; ;) {
        const environment = {
          ...settings,
          BUS_URL: `nats://127.0.0.1:${toNats.port}`,
          [`${prefix}_DATABASE_URL`]: url.href,
          [`${prefix}_OPS_PORT`]: String(operationsPort),
          ...(port === undefined ? {} : { PORT: String(port) }),
        };
        // One that is frozen would never hear that it shall end.
        const started = runProgram(path.join('apps', service, 'src', 'main.ts'), environment, { tether: 'KILL' });
        program = started;
        const over = started.ended.then(() => {
          appendFileSync(path.join(folder, `${name}.log`), `${started.output()}${started.errors()}`);
          return 'ended' as const;
        });
        let why = 'it has not been asked';
        const request = (): Promise<void> =>
          isReady().catch((error: Error) => {
            why = error.message;
            throw error;
          });
        const ready = eventually(request, { timeoutMs: deadline - performance.now() }).then(() => 'ready' as const);
        ready.catch(() => undefined);
        const explaining = setInterval(() => say(`${name} is not ready yet: ${why}`), explainedEveryMs);
        const outcome = await Promise.race([over, ready]).finally(() => clearInterval(explaining));
        if (outcome === 'ready') return;
        // As whoever supervises it would: it is started again, within reason.
        say(`${name} has ended, and is started again`);
        if (performance.now() > deadline)
          throw new Error(`${name} does not start: ${started.output()}${started.errors()}`);
      }
    },
    kill: async () => {
      program?.signal('SIGKILL');
      await ended();
    },
    freeze: () => program?.signal('SIGSTOP'),
    thaw: () => program?.signal('SIGCONT'),
    arm: (moment, left) => {
      fallen = false;
      const fell = new Promise<void>((resolve) => (trap = { moment, left, fall: resolve }));
      return {
        fell,
        disarm: () => {
          trap = undefined;
          return fallen;
        },
      };
    },
    stop: async () => {
      if (program === undefined) return;
      program.signal('SIGCONT');
      program.signal('SIGTERM');
      const late = setTimeout(() => program?.signal('SIGKILL'), stopMs);
      await ended();
      clearTimeout(late);
    },
    close: async () => {
      await toPostgres.close();
      await toNats.close();
    },
  };
};
