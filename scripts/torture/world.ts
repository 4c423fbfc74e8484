import { randomBytes } from 'node:crypto';
import path from 'node:path';
import type { Chance } from './chance.ts';
import { type Nats, type Postgres, startNatsServer, startPostgres } from './servers.ts';
import { type ServiceProcess, serviceProcess } from './service-process.ts';

/** Everything that a run tortures: servers of its own, and processes of every service, on loopback. */
export interface World {
  readonly token: string;
  readonly postgres: Postgres;
  readonly nats: Nats;
  readonly processes: readonly ServiceProcess[];
  of(service: string): readonly ServiceProcess[];
  /** where the API is; one address for each gateway */
  readonly urls: readonly string[];
  stop(): Promise<void>;
}

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
            databaseUrl: (of) => postgres.urlOf(`bunting_${of.replaceAll('-', '_')}`),
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
  return {
    token,
    postgres,
    nats,
    processes,
    of: (service) => processes.filter((one) => one.service === service),
    urls: processes.flatMap(({ url }) => url ?? []),
    stop,
  };
};
