import { randomBytes } from 'node:crypto';
import { cpSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ServiceName } from '@bunting/contracts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@bunting/embedded-postgres';
import { eventually, reservePort, startNats, type TestNats } from '@bunting/testing';
import { databaseSettingOf } from '../../apps/all-in-one/src/database-setting.ts';
import { services } from '../../apps/all-in-one/src/services.ts';
import { withClient } from '../../libs/testing/src/test-postgres.ts';
import type { SeededRandom } from './seeded-random.ts';
import { createServiceProcess, type ServiceProcess } from './service-process.ts';

/** Returns a function that runs jobs one after the other, so that a server is not stopped while it starts. */
function serialQueue(): (job: () => Promise<void>) => Promise<void> {
  let last: Promise<unknown> = Promise.resolve();
  return (job) => {
    const done = last.then(job);
    last = done.catch(() => undefined);
    return done;
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** The PostgreSQL of a run. Its port stays the same over restarts, and fsync is on. */
async function startPostgres(dataDir: string) {
  const port = await reservePort();
  const runSerially = serialQueue();
  let server: EmbeddedPostgres = await startEmbeddedPostgres({ dataDir, port });
  const administer = (...statements: readonly string[]): Promise<void> =>
    withClient(server.urlOf('postgres'), async (client) => {
      for (const statement of statements) await client.query(statement);
    });
  const copyOf = (name: string): string => `${name}_copy`;
  const endSessions = (name: string): string =>
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`;
  return {
    port,
    urlOf: (database: string): string => server.urlOf(database),
    /** Stops the server like a crash (an immediate shutdown), and restarts it after `downtimeMs`. */
    crash: (downtimeMs: number): Promise<void> =>
      runSerially(async () => {
        process.kill(server.pid, 'SIGQUIT');
        await server.lost;
        await pause(downtimeMs);
        server = await startEmbeddedPostgres({ dataDir, port });
      }),
    /** Makes every session read-only for `durationMs`, as a failover to a standby or a guard of a full disk does. */
    readOnly: (durationMs: number): Promise<void> =>
      runSerially(async () => {
        await administer('alter system set default_transaction_read_only = on', 'select pg_reload_conf()');
        await pause(durationMs);
        await administer('alter system reset default_transaction_read_only', 'select pg_reload_conf()');
      }),
    /** Copies a database. Its sessions are terminated. */
    copyDatabase: (name: string): Promise<void> =>
      runSerially(() =>
        // The server may count a terminated session for some time, and refuses the copy until then.
        eventually(() =>
          administer(
            `drop database if exists ${copyOf(name)} with (force)`,
            endSessions(name),
            `create database ${copyOf(name)} template ${name}`,
          ),
        ),
      ),
    /** Replaces a database by its copy. Its sessions are terminated. */
    restoreCopy: (name: string): Promise<void> =>
      runSerially(() =>
        administer(`drop database ${name} with (force)`, `alter database ${copyOf(name)} rename to ${name}`),
      ),
    stop: (): Promise<void> => runSerially(() => server.stop()),
  };
}

/** The NATS server of a run. */
async function startNatsServer(folder: string) {
  const storeDir = path.join(folder, 'nats');
  const copy = path.join(folder, 'nats-copy');
  // As in docker/nats/nats.conf.
  const config = 'ping_interval: "3s"\nping_max: 2';
  const server: TestNats = await startNats({ storeDir, port: await reservePort(), config });
  const runSerially = serialQueue();
  const whileDown = (downtimeMs: number, job: () => void = () => undefined): Promise<void> =>
    runSerially(async () => {
      await server.kill();
      job();
      await pause(downtimeMs);
      await server.restart();
    });
  const deleteStorage = (): void => rmSync(storeDir, { recursive: true, force: true });
  return {
    port: server.port,
    settings: server.settings,
    crash: (downtimeMs: number): Promise<void> => whileDown(downtimeMs),
    deleteStorage: (downtimeMs: number): Promise<void> => whileDown(downtimeMs, deleteStorage),
    /** Copies the storage of the server while it is stopped. */
    copyStorage: (): Promise<void> =>
      whileDown(0, () => {
        rmSync(copy, { recursive: true, force: true });
        cpSync(storeDir, copy, { recursive: true });
      }),
    /** Restores the storage to the copy. */
    restoreCopy: (downtimeMs: number): Promise<void> =>
      whileDown(downtimeMs, () => {
        deleteStorage();
        cpSync(copy, storeDir, { recursive: true });
      }),
    stop: (): Promise<void> => server.stop(),
  };
}

/** A period whose acknowledged writes one database lost, because it was restored to a copy. */
interface LostWritesInterval {
  readonly service: ServiceName;
  readonly copiedAt: Date;
  readonly restoredAt: Date;
}

/** Number of processes of each service. */
export type ReplicaCounts = Readonly<Partial<Record<ServiceName, number>>>;

interface ClusterOptions {
  readonly folder: string;
  readonly scale: ReplicaCounts;
  readonly random: SeededRandom;
  readonly log?: (line: string) => void;
  /** settings of all processes, besides those that the cluster needs */
  readonly settings: Readonly<Record<string, string>>;
  /** the source tree that processes first run from; this repository by default */
  readonly root?: string | undefined;
}

/** The servers and processes of a run, on loopback. */
export async function startCluster({
  folder,
  scale,
  random,
  log = () => undefined,
  settings: ownSettings,
  root,
}: ClusterOptions) {
  const token = `torture-${randomBytes(24).toString('hex')}`;
  const postgres = await startPostgres(path.join(folder, 'postgres'));
  log('PostgreSQL is running');
  const nats = await startNatsServer(folder);
  log('nats-server is running');
  const settings = {
    GATEWAY_HOST: '127.0.0.1',
    BUNTING_ADMIN_TOKEN: token,
    CHANGE_REQUESTS_ADMIN_TOKENS_REVIEW: 'true',
    CHANGE_REQUESTS_ADMINS_REVIEW_OWN: 'true',
    LOG_LEVEL: 'warn',
    CHECK_REPLIES: 'true',
    ...nats.settings,
    ...ownSettings,
  };
  const processes: ServiceProcess[] = [];
  const stop = async (): Promise<void> => {
    // Gateways stop first.
    for (const one of [...processes].reverse()) await one.stop();
    for (const one of processes) await one.close();
    await nats.stop();
    await postgres.stop();
  };
  try {
    for (const { name: service } of services) {
      for (let nth = 1; nth <= (scale[service] ?? 0); nth++) {
        processes.push(
          await createServiceProcess({
            service,
            replica: nth,
            settings,
            databaseUrl: postgres.urlOf(databaseSettingOf(service).database),
            postgresPort: () => postgres.port,
            natsPort: () => nats.port,
            random,
            folder,
            log,
            root,
          }),
        );
      }
    }
    // Concurrently: no service needs another one to start.
    await Promise.all(processes.map((one) => one.start().then(() => log(`${one.name} is ready`))));
  } catch (error) {
    await stop();
    throw error;
  }
  const processesOf = (service: ServiceName) => processes.filter((one) => one.service === service);
  const lostWrites: LostWritesInterval[] = [];
  const whileDown = async (service: ServiceName, job: () => Promise<void>): Promise<void> => {
    await Promise.all(processesOf(service).map((one) => one.kill()));
    await job();
    await Promise.all(processesOf(service).map((one) => one.start()));
  };
  return {
    token,
    postgres,
    nats,
    processes,
    processesOf,
    /** the URLs of the gateways */
    urls: processes.flatMap(({ url }) => url ?? []),
    /** for each restore of a database so far, the period whose writes the database may lack since then */
    restores: lostWrites,
    /** Copies the database of a service, and restores the copy after `untilRestoreMs`. For both, the processes of the service are killed. */
    restore: async (service: ServiceName, untilRestoreMs: number): Promise<void> => {
      const { database } = databaseSettingOf(service);
      const copiedAt = new Date();
      await whileDown(service, () => postgres.copyDatabase(database));
      await sleep(untilRestoreMs);
      await whileDown(service, async () => {
        lostWrites.push({ service, copiedAt, restoredAt: new Date() });
        await postgres.restoreCopy(database);
      });
    },
    stop,
  };
}
export type Cluster = Awaited<ReturnType<typeof startCluster>>;
