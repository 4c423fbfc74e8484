import type { ServiceName } from '@bunting/contracts';
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { databaseSettingOf } from '../../../apps/all-in-one/src/database-setting.ts';
import { services } from '../../../apps/all-in-one/src/services.ts';
import type { SeededRandom } from '../../seeded-random.ts';
import { startNatsServer, startPostgres } from './start-servers.ts';
import { type ServiceProcess, createServiceProcess } from './service-process.ts';

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
export const startCluster = async ({
  folder,
  scale,
  random,
  log = () => undefined,
  settings: ownSettings,
  root,
}: ClusterOptions) => {
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
};
export type Cluster = Awaited<ReturnType<typeof startCluster>>;
