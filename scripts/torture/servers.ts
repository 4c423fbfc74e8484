import { type EmbeddedPostgres, startEmbeddedPostgres } from '@bunting/embedded-postgres';
import { eventually, startNats, type TestNats } from '@bunting/testing';
import { cpSync, rmSync } from 'node:fs';
import path from 'node:path';
import { reservePort } from '../../apps/all-in-one/test/reserved-port.ts';
import { withClient } from '../../libs/testing/src/postgres-server.ts';

/** The PostgreSQL of a run. Its port stays the same over restarts, and fsync is on. */
export interface Postgres {
  readonly port: number;
  urlOf(database: string): string;
  /** Stops it like a crash (`immediate`), and starts it again after a while. */
  crash(awayMs: number): Promise<void>;
  /** Makes every session read-only for a while, as a failover to a standby or a guard of a full disk does. */
  readOnly(forMs: number): Promise<void>;
  /** Copies a database. Its sessions are terminated. */
  copyDatabase(name: string): Promise<void>;
  /** Replaces a database by its copy. Its sessions are terminated. */
  restoreCopy(name: string): Promise<void>;
  stop(): Promise<void>;
}

/** Runs jobs one after the other, so that a server is not stopped while it starts. */
const serially = (): ((job: () => Promise<void>) => Promise<void>) => {
  let last: Promise<unknown> = Promise.resolve();
  return (job) => {
    const done = last.then(job);
    last = done.catch(() => undefined);
    return done;
  };
};

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export const startPostgres = async (dataDir: string): Promise<Postgres> => {
  const port = await reservePort();
  const turn = serially();
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
    urlOf: (database) => server.urlOf(database),
    crash: (awayMs) =>
      turn(async () => {
        process.kill(server.pid, 'SIGQUIT');
        await server.lost;
        await pause(awayMs);
        server = await startEmbeddedPostgres({ dataDir, port });
      }),
    readOnly: (forMs) =>
      turn(async () => {
        await administer('alter system set default_transaction_read_only = on', 'select pg_reload_conf()');
        await pause(forMs);
        await administer('alter system reset default_transaction_read_only', 'select pg_reload_conf()');
      }),
    copyDatabase: (name) =>
      turn(() =>
        // A terminated session may exist a moment longer.
        eventually(() =>
          administer(
            `drop database if exists ${copyOf(name)} with (force)`,
            endSessions(name),
            `create database ${copyOf(name)} template ${name}`,
          ),
        ),
      ),
    restoreCopy: (name) =>
      turn(() => administer(`drop database ${name} with (force)`, `alter database ${copyOf(name)} rename to ${name}`)),
    stop: () => turn(() => server.stop()),
  };
};

/** The NATS server of a run. */
export interface Nats {
  readonly port: number;
  crash(awayMs: number): Promise<void>;
  deleteStorage(awayMs: number): Promise<void>;
  /** Copies its storage while it is stopped. */
  copyStorage(): Promise<void>;
  /** Restores its storage to the copy. */
  restoreCopy(awayMs: number): Promise<void>;
  stop(): Promise<void>;
}

export const startNatsServer = async (folder: string): Promise<Nats> => {
  const storeDir = path.join(folder, 'nats');
  const copy = path.join(folder, 'nats-copy');
  const server: TestNats = await startNats({ storeDir, port: await reservePort() });
  const turn = serially();
  const whileDown = (awayMs: number, job: () => void = () => undefined): Promise<void> =>
    turn(async () => {
      await server.kill();
      job();
      await pause(awayMs);
      await server.restart();
    });
  const deleteStorage = (): void => rmSync(storeDir, { recursive: true, force: true });
  return {
    port: server.port,
    crash: (awayMs) => whileDown(awayMs),
    deleteStorage: (awayMs) => whileDown(awayMs, deleteStorage),
    copyStorage: () =>
      whileDown(0, () => {
        rmSync(copy, { recursive: true, force: true });
        cpSync(storeDir, copy, { recursive: true });
      }),
    restoreCopy: (awayMs) =>
      whileDown(awayMs, () => {
        deleteStorage();
        cpSync(copy, storeDir, { recursive: true });
      }),
    stop: () => server.stop(),
  };
};
