import { type EmbeddedPostgres, startEmbeddedPostgres } from '@bunting/embedded-postgres';
import { eventually, startNats, type TestNats, reservePort } from '@bunting/testing';
import { cpSync, rmSync } from 'node:fs';
import path from 'node:path';
import { withClient } from '../../../libs/testing/src/test-postgres.ts';

/** Returns a function that runs jobs one after the other, so that a server is not stopped while it starts. */
const serialQueue = (): ((job: () => Promise<void>) => Promise<void>) => {
  let last: Promise<unknown> = Promise.resolve();
  return (job) => {
    const done = last.then(job);
    last = done.catch(() => undefined);
    return done;
  };
};

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** The PostgreSQL of a run. Its port stays the same over restarts, and fsync is on. */
export const startPostgres = async (dataDir: string) => {
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
};

/** The NATS server of a run. */
export const startNatsServer = async (folder: string) => {
  const storeDir = path.join(folder, 'nats');
  const copy = path.join(folder, 'nats-copy');
  const server: TestNats = await startNats({ storeDir, port: await reservePort() });
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
};
