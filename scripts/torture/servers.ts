import { type EmbeddedPostgres, startEmbeddedPostgres } from '@bunting/embedded-postgres';
import { eventually, startNats, type TestNats } from '@bunting/testing';
import { cpSync, rmSync } from 'node:fs';
import path from 'node:path';
import { quietPort } from '../../apps/all-in-one/test/quiet-port.ts';
import { withClient } from '../../libs/testing/src/postgres-server.ts';

/** The PostgreSQL of a run. It keeps to its port, and to the promises that it makes by default: fsync is on. */
export interface Postgres {
  readonly port: number;
  urlOf(database: string): string;
  /** Ends it as a crash would (`immediate`), and starts it again after a while. */
  crash(awayMs: number): Promise<void>;
  /** Makes every session read-only for a while, as a failover to a standby or a guard of a full disk does. */
  readOnly(forMs: number): Promise<void>;
  /** Copies a database as it is now. Its sessions are ended. */
  copyDatabase(name: string): Promise<void>;
  /** Puts a database back to its copy, which is used up. Its sessions are ended. */
  returnToCopy(name: string): Promise<void>;
  stop(): Promise<void>;
}

/** One after the other: what is being started cannot be ended. */
const inTurn = (): ((job: () => Promise<void>) => Promise<void>) => {
  let last: Promise<unknown> = Promise.resolve();
  return (job) => {
    const done = last.then(job);
    last = done.catch(() => undefined);
    return done;
  };
};

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export const startPostgres = async (dataDir: string): Promise<Postgres> => {
  const port = await quietPort();
  const turn = inTurn();
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
        // A session that was ended may be there for a moment more.
        eventually(() =>
          administer(
            `drop database if exists ${copyOf(name)} with (force)`,
            endSessions(name),
            `create database ${copyOf(name)} template ${name}`,
          ),
        ),
      ),
    returnToCopy: (name) =>
      turn(() => administer(`drop database ${name} with (force)`, `alter database ${copyOf(name)} rename to ${name}`)),
    stop: () => turn(() => server.stop()),
  };
};

/** The NATS server of a run, whose storage can be taken away. */
export interface Nats {
  readonly port: number;
  crash(awayMs: number): Promise<void>;
  loseStorage(awayMs: number): Promise<void>;
  /** Remembers what it has stored now. It is down for the moment that this takes. */
  copyStorage(): Promise<void>;
  /** Brings back what it had stored when that was copied. */
  returnToCopy(awayMs: number): Promise<void>;
  stop(): Promise<void>;
}

export const startNatsServer = async (folder: string): Promise<Nats> => {
  const storeDir = path.join(folder, 'nats');
  const copy = path.join(folder, 'nats-copy');
  const server: TestNats = await startNats({ storeDir, port: await quietPort() });
  const turn = inTurn();
  const whileDown = (awayMs: number, job: () => void = () => undefined): Promise<void> =>
    turn(async () => {
      await server.kill();
      job();
      await pause(awayMs);
      await server.restart();
    });
  const lose = (): void => rmSync(storeDir, { recursive: true, force: true });
  return {
    port: server.port,
    crash: (awayMs) => whileDown(awayMs),
    loseStorage: (awayMs) => whileDown(awayMs, lose),
    copyStorage: () =>
      whileDown(0, () => {
        rmSync(copy, { recursive: true, force: true });
        cpSync(storeDir, copy, { recursive: true });
      }),
    returnToCopy: (awayMs) =>
      whileDown(awayMs, () => {
        lose();
        cpSync(copy, storeDir, { recursive: true });
      }),
    stop: () => server.stop(),
  };
};
