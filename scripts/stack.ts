import { freePort, startEmbeddedPostgres, tether } from '@bunting/embedded-postgres';
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { ensureNatsServer } from './nats-server.ts';

const help = `Starts Bunting as five processes on a local nats-server with JetStream and a PostgreSQL from npm packages.

  npm run stack [-- --scale features=3]

  --scale SERVICE=N   N processes of a service instead of one; every service but the gateway
Settings are those of npm start: PORT, BUNTING_DATA_DIR, BUNTING_ADMIN_TOKEN, LOG_LEVEL (default warn).
Ctrl-C stops everything cleanly.`;

const repository = path.join(import.meta.dirname, '..');
/** in the order in which they start: the door opens last */
const services = ['features', 'change-requests', 'audit', 'search', 'gateway'];

const scaleFrom = (args: readonly string[]): ReadonlyMap<string, number> => {
  const scale = new Map<string, number>();
  for (const [index, arg] of args.entries()) {
    if (arg !== '--scale') continue;
    const [service, count] = (args[index + 1] ?? '').split('=');
    const wanted = Number(count);
    if (service === undefined || !services.includes(service) || !Number.isInteger(wanted) || wanted < 1) {
      throw new Error(`--scale takes SERVICE=N with one of ${services.join(', ')}.`);
    }
    if (service === 'gateway' && wanted > 1)
      throw new Error('The gateway listens on one port here: scale another service.');
    scale.set(service, wanted);
  }
  return scale;
};

interface Running {
  readonly name: string;
  readonly child: ChildProcess;
  readonly ended: Promise<number>;
}

const launch = (
  name: string,
  command: readonly string[],
  environment: NodeJS.ProcessEnv,
  show: (line: string) => void,
): Running => {
  const tethered = tether(command, { signal: 'TERM' });
  // Ctrl-C reaches this process alone, which then stops the others in their order.
  const child = spawn(tethered.command, tethered.args, {
    cwd: repository,
    env: environment,
    stdio: [tethered.stdin, 'pipe', 'pipe'],
    detached: true,
  });
  for (const stream of [child.stdout, child.stderr]) {
    if (stream !== null) createInterface({ input: stream }).on('line', show);
  }
  const ended = new Promise<number>((resolve) =>
    child.once('exit', (code, signal) => resolve(code ?? (signal === null ? 1 : 0))),
  );
  child.once('error', (error) => show(error.message));
  return { name, child, ended };
};

const end = async ({ child, ended }: Running): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  const late = sleep(30_000, undefined, { ref: false }).then(() => child.kill('SIGKILL'));
  await Promise.race([ended, late]);
};

const isReady = async (url: string): Promise<boolean> =>
  fetch(url, { signal: AbortSignal.timeout(1_000) }).then(
    (response) => response.ok,
    () => false,
  );

export interface Stack {
  readonly address: string;
  /** the processes by name: `nats-server`, `features`, `features-2`, … */
  readonly processes: ReadonlyMap<string, ChildProcess>;
  stop(): Promise<void>;
}

/** Starts the stack and resolves when all of it is ready. */
const startStack = async (
  environment: NodeJS.ProcessEnv,
  scale: ReadonlyMap<string, number> = new Map(),
  show: (line: string) => void = console.log,
): Promise<Stack> => {
  const dataDir = path.resolve(environment['BUNTING_DATA_DIR'] || path.join(repository, '.bunting'));
  mkdirSync(path.join(dataDir, 'nats'), { recursive: true, mode: 0o700 });
  const natsServer = await ensureNatsServer();
  const natsPort = await freePort();
  const natsConfig = path.join(dataDir, 'nats', 'nats.conf');
  writeFileSync(
    natsConfig,
    `listen: "127.0.0.1:${natsPort}"\nmax_payload: 16MB\njetstream { store_dir: ${JSON.stringify(path.join(dataDir, 'nats'))} }\n`,
  );
  const postgres = await startEmbeddedPostgres({ dataDir: path.join(dataDir, 'postgres') });
  const running: Running[] = [];
  const stop = async () => {
    for (const process of [...running].reverse()) await end(process);
    await postgres.stop();
  };
  const start = (name: string, command: readonly string[], more: NodeJS.ProcessEnv): Running => {
    const started = launch(name, command, { ...environment, ...more }, (line) => show(`${name.padEnd(18)} ${line}`));
    running.push(started);
    return started;
  };

  try {
    start('nats-server', [natsServer, '-c', natsConfig], {});
    const port = Number(environment['PORT'] || 4242);
    for (const service of services) {
      const prefix = service.toUpperCase().replaceAll('-', '_');
      for (let copy = 1; copy <= (scale.get(service) ?? 1); copy++) {
        const operationsPort = await freePort();
        const name = copy === 1 ? service : `${service}-${copy}`;
        const { ended } = start(name, [process.execPath, path.join('apps', service, 'src', 'main.ts')], {
          LOG_LEVEL: environment['LOG_LEVEL'] || 'warn',
          BUS_URL: `nats://127.0.0.1:${natsPort}`,
          PORT: String(port),
          [`${prefix}_OPS_PORT`]: String(operationsPort),
          [`${prefix}_DATABASE_URL`]: postgres.urlOf(`bunting_${service.replaceAll('-', '_')}`),
        });
        let over = false;
        void ended.then(() => (over = true));
        while (!(await isReady(`http://127.0.0.1:${operationsPort}/health/ready`))) {
          if (over) throw new Error(`${name} did not start: its own lines above say why.`);
          await sleep(50);
        }
      }
    }
    return {
      address: `http://localhost:${port}`,
      processes: new Map(running.map(({ name, child }) => [name, child])),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
};

const main = async (): Promise<void> => {
  if (process.argv.includes('--help')) return console.log(help);
  try {
    const stack = await startStack(process.env, scaleFrom(process.argv));
    let asked = false;
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => {
        if (asked) process.exit(130);
        asked = true;
        void stack.stop().then(() => process.exit(0));
      });
    }
    console.log(`\nBunting is ready: ${stack.address}/docs\n`);
  } catch (error) {
    console.error((error as Error).message);
    process.exit(1);
  }
};

if (process.argv[1] === import.meta.filename) void main();
