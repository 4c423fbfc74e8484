import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Chance } from './chance.ts';
import { type Nats, type Postgres, startNatsServer, startPostgres } from './servers.ts';
import { type ServiceProcess, serviceProcess } from './service-process.ts';

/** A time in which acknowledged writes were kept by a database that was put back to an older copy afterwards. */
export interface Restore {
  readonly service: string;
  readonly copiedAt: Date;
  readonly restoredAt: Date;
}

/** Everything that a run tortures: servers of its own, and processes of every service, on loopback. */
export interface World {
  readonly token: string;
  readonly postgres: Postgres;
  readonly nats: Nats;
  readonly processes: readonly ServiceProcess[];
  of(service: string): readonly ServiceProcess[];
  /** where the API is; one address for each gateway */
  readonly urls: readonly string[];
  /** the databases that were put back so far; what they had since their copy is lost by right */
  readonly restores: readonly Restore[];
  /** Puts the database of a service back to what it was a while ago. The processes of the service are down meanwhile. */
  restore(service: string, whileMs: number): Promise<void>;
  stop(): Promise<void>;
}

/** The name of a service's database. */
export const databaseOf = (service: string): string => `bunting_${service.replaceAll('-', '_')}`;

/** How many processes of each service there are, in the order in which they start. */
export type Scale = Readonly<Record<string, number>>;

export const startWorld = async (
  folder: string,
  scale: Scale,
  chance: Chance,
  say: (line: string) => void,
  more: Readonly<Record<string, string>> = {},
): Promise<World> => {
  const token = `torture-${randomBytes(24).toString('hex')}`;
  const postgres = await startPostgres(path.join(folder, 'postgres'));
  say('PostgreSQL is started');
  const nats = await startNatsServer(folder);
  say('nats-server is started');
  const settings = {
    GATEWAY_HOST: '127.0.0.1',
    BUNTING_ADMIN_TOKEN: token,
    LOG_LEVEL: 'warn',
    CHECK_REPLIES: 'true',
    ...more,
  };
  const processes: ServiceProcess[] = [];
  const stop = async (): Promise<void> => {
    // The door is shut first.
    for (const one of [...processes].reverse()) await one.stop();
    for (const one of processes) await one.close();
    await nats.stop();
    await postgres.stop();
  };
  try {
    for (const [service, count] of Object.entries(scale)) {
      for (let nth = 1; nth <= count; nth++) {
        processes.push(
          await serviceProcess({
            service,
            nth,
            settings,
            databaseUrl: (name) => postgres.urlOf(databaseOf(name)),
            postgresPort: () => postgres.port,
            natsPort: () => nats.port,
            chance,
            folder,
            say,
          }),
        );
      }
    }
    // All at once: none needs another in order to start.
    await Promise.all(processes.map((one) => one.start().then(() => say(`${one.name} is ready`))));
  } catch (error) {
    await stop();
    throw error;
  }
  const of = (service: string) => processes.filter((one) => one.service === service);
  const restores: Restore[] = [];
  const whileDown = async (service: string, job: () => Promise<void>): Promise<void> => {
    await Promise.all(of(service).map((one) => one.kill()));
    await job();
    await Promise.all(of(service).map((one) => one.start()));
  };
  return {
    token,
    postgres,
    nats,
    processes,
    of,
    urls: processes.flatMap(({ url }) => url ?? []),
    restores,
    restore: async (service, whileMs) => {
      const database = databaseOf(service);
      const copiedAt = new Date();
      await whileDown(service, () => postgres.copyDatabase(database));
      await sleep(whileMs);
      await whileDown(service, async () => {
        restores.push({ service, copiedAt, restoredAt: new Date() });
        await postgres.returnToCopy(database);
      });
    },
    stop,
  };
};
