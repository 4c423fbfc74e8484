import { newCallerKeys } from '@bunting/bus';
import type { ServiceName } from '@bunting/contracts';
import { freePort, startEmbeddedPostgres } from '@bunting/embedded-postgres';
import { type AnyService, configSchemaOf, HostConfig, monitoringPortKey, stopOnSignal } from '@bunting/runtime';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDataFolder, dataFolders, integrationsKey } from '../apps/all-in-one/src/data-folders.ts';
import { isSettingGiven } from '../apps/all-in-one/src/database-setting.ts';
import { services, servicesWithDatabaseSettings } from '../apps/all-in-one/src/services.ts';
import { optionError, runCommand } from './command.ts';
import { ensureNatsServerInstalled } from './testing/install-nats-server.ts';
import { type SupervisedProcess, superviseProcess } from './stack/supervised-process.ts';

const help = `Starts Bunting as six processes on a local nats-server with JetStream and a PostgreSQL from npm packages.

  npm run stack [-- --scale features=3]

  --scale SERVICE=N   N processes of a service instead of one; every service but the gateway
Settings are those of npm start: PORT, BUNTING_DATA_DIR, BUNTING_ADMIN_TOKEN, LOG_LEVEL (default warn). Each process is
given only those that it reads. A process that ends is restarted; when PostgreSQL ends, the stack ends with exit code 1.
Ctrl-C stops everything cleanly.`;

const repository = path.join(import.meta.dirname, '..');
/** A range from which only stacks choose ports; two of them rarely choose the same one. */
const ports = { from: 11_000, to: 20_000 };

/** the services in the order in which they start */
const serviceNames = services.map(({ name }) => name);

function scaleOf(options: readonly string[]): ReadonlyMap<ServiceName, number> {
  const scale = new Map<ServiceName, number>();
  for (const option of options) {
    const [name, count] = option.split('=');
    const service = serviceNames.find((candidate) => candidate === name);
    const processCount = Number(count);
    if (service === undefined || !Number.isInteger(processCount) || processCount < 1) {
      throw optionError(`--scale takes SERVICE=N with one of ${serviceNames.join(', ')}.`);
    }
    if (service === 'gateway' && processCount > 1)
      throw optionError('The gateway listens on one port here: scale another service.');
    scale.set(service, processCount);
  }
  return scale;
}

/** The variables that every program gets. Each service gets in addition the settings that it reads, and no others. */
const commonVariables = [
  'PATH',
  'HOME',
  'TMPDIR',
  'LANG',
  'LC_ALL',
  'TZ',
  'NODE_COMPILE_CACHE',
  'NODE_ENV',
  'NODE_OPTIONS',
  'NODE_EXTRA_CA_CERTS',
];

function pickVariables(environment: NodeJS.ProcessEnv, keys: Iterable<string>): NodeJS.ProcessEnv {
  return Object.fromEntries(
    [...keys].flatMap((key) => (environment[key] === undefined ? [] : [[key, environment[key]]])),
  );
}

/** The settings that a service reads, without those that the stack sets itself. So a secret reaches no other process. */
function settingsOf(service: AnyService, environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const schemas = [HostConfig, configSchemaOf(service)];
  const keys = schemas
    .flatMap(({ properties }) => Object.keys(properties))
    .filter((key) => !key.startsWith('BUS_') && !key.endsWith('_DATABASE_URL'));
  return pickVariables(environment, [...commonVariables, ...keys, ...keys.map((key) => `${key}_FILE`)]);
}

function prefixOf(service: ServiceName): string {
  return service.toUpperCase().replaceAll('-', '_');
}

/** Writes the configuration of the NATS server, with passwords that only this user can read. */
function writeNatsConfig(folder: string, port: number, passwords: Readonly<Record<ServiceName, string>>): string {
  const file = path.join(folder, 'nats.conf');
  // Removed first, because writing to an existing file does not change its mode.
  rmSync(file, { force: true });
  const lines = [
    `listen: "127.0.0.1:${port}"`,
    ...serviceNames.map((service) => `${prefixOf(service)}_NATS_PASSWORD: "${passwords[service]}"`),
    'max_payload: 16MB',
    'ping_interval: "3s"',
    'ping_max: 2',
    `jetstream { store_dir: ${JSON.stringify(folder)} }`,
    // The users and rights of the compose file.
    readFileSync(path.join(repository, 'docker/nats/nats.conf'), 'utf8').replace(/^[^]*?(?=^accounts)/m, ''),
  ];
  writeFileSync(file, `${lines.join('\n')}\n`, { mode: 0o600 });
  return file;
}

/** @throws Error that says what to do where the gateway could not listen, before anything is started */
async function requireFree(port: number, host: string): Promise<void> {
  const server = createServer();
  try {
    server.listen(port, host);
    await once(server, 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw new Error(`Port ${port} is taken: stop the program that uses it, or set PORT to another port.`);
  } finally {
    server.close();
  }
}

async function isReady(url: string): Promise<boolean> {
  return fetch(url, { signal: AbortSignal.timeout(1_000) }).then(
    (response) => response.ok,
    () => false,
  );
}

/** After so many consecutive failures of the NATS server the stack gives up: a restart does not remove their cause. */
const maxNatsFailures = 5;

/** Starts the stack and resolves when all of it is ready. */
async function startStack(
  environment: NodeJS.ProcessEnv,
  scale: ReadonlyMap<ServiceName, number> = new Map(),
  printLine: (line: string) => void = console.log,
) {
  const port = Number(environment['PORT'] || 4242);
  await requireFree(port, environment['GATEWAY_HOST'] || '0.0.0.0');
  const folders = dataFolders(environment);
  createDataFolder(folders.data);
  mkdirSync(folders.nats, { recursive: true, mode: 0o700 });
  const natsServer = await ensureNatsServerInstalled();
  const natsPort = await freePort(ports);
  const natsPasswords = Object.fromEntries(
    serviceNames.map((service) => [service, randomBytes(24).toString('hex')]),
  ) as Record<ServiceName, string>;
  const callerKeys = newCallerKeys();
  const natsConfig = writeNatsConfig(folders.nats, natsPort, natsPasswords);
  const postgres = await startEmbeddedPostgres({ dataDir: folders.postgres, warn: printLine });
  const processes: SupervisedProcess[] = [];
  const stopAll = async () => {
    for (const process of processes.toReversed()) await process.stop();
    await postgres.stop();
  };
  let stopping: Promise<void> | undefined;
  /** Stops everything once, however often it is called. */
  const stop = () => (stopping ??= stopAll());
  const start = (
    name: string,
    command: readonly string[],
    settings: NodeJS.ProcessEnv,
    more: { readonly maxFailures?: number } = {},
  ): SupervisedProcess => {
    const printNamed = (line: string) => printLine(`${name.padEnd(18)} ${line}`);
    const process = superviseProcess({
      name,
      command,
      folder: repository,
      environment: settings,
      show: printNamed,
      ...more,
    });
    processes.push(process);
    return process;
  };

  try {
    const nats = start('nats-server', [natsServer, '-c', natsConfig], pickVariables(environment, commonVariables), {
      maxFailures: maxNatsFailures,
    });
    for (const { service, setting, database } of servicesWithDatabaseSettings) {
      for (let replica = 1; replica <= (scale.get(service.name) ?? 1); replica++) {
        const monitoringPort = await freePort(ports);
        const name = replica === 1 ? service.name : `${service.name}-${replica}`;
        const { firstEnded } = start(name, [process.execPath, path.join('apps', service.name, 'src', 'main.ts')], {
          ...settingsOf(service, environment),
          LOG_LEVEL: environment['LOG_LEVEL'] || 'warn',
          BUS_URL: `nats://127.0.0.1:${natsPort}`,
          BUS_USER: service.name,
          BUS_PASSWORD: natsPasswords[service.name],
          ...(service.name === 'gateway'
            ? { BUS_CALLER_KEY: callerKeys.privateKey }
            : { BUS_CALLER_PUBLIC_KEYS: callerKeys.publicKey }),
          ...(service.name === 'integrations' && !isSettingGiven(environment, 'INTEGRATIONS_SECRET_KEY')
            ? { INTEGRATIONS_SECRET_KEY: integrationsKey(folders) }
            : {}),
          [monitoringPortKey(service.name)]: String(monitoringPort),
          [setting]: postgres.localUrlOf(database),
        });
        let hasEnded = false;
        void firstEnded.then(() => (hasEnded = true));
        while (!(await isReady(`http://127.0.0.1:${monitoringPort}/health/ready`))) {
          if (hasEnded) throw new Error(`${name} did not start: its own lines above say why.`);
          await sleep(50);
        }
      }
    }
    return {
      address: `http://localhost:${port}`,
      /** Resolves with the reason when the stack cannot continue: PostgreSQL has exited, or NATS exits repeatedly. */
      lost: Promise.race([postgres.lost.then(({ message }) => message), nats.failed]),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

await runCommand(
  {
    help,
    options: {
      scale: { type: 'string', multiple: true, default: [] },
    },
  },
  async (values) => {
    const stack = await startStack(process.env, scaleOf(values.scale));
    let isLost = false;
    void stack.lost.then(async (reason) => {
      isLost = true;
      console.error(`\nBunting stops: ${reason}`);
      await stack.stop();
      process.exit(1);
    });
    stopOnSignal(async () => {
      await stack.stop();
      if (isLost) process.exit(1);
    });
    console.log(`\nBunting is ready: ${stack.address}/docs\n`);
  },
);
