import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDatabaseFolder, readPassword, superuser } from './data-folder.ts';
import { EmbeddedPostgresError, programError } from './embedded-postgres-error.ts';
import { freePort } from './free-port.ts';
import { type Postmaster, startPostmaster } from './postmaster.ts';
import { findRunningInstance, removeStaleLock } from './running-instance.ts';
import { preparePostgresBinaries } from './postgres-binaries.ts';
import { changeOwner, choosePostgresUser } from './postgres-user.ts';

export interface EmbeddedPostgresOptions {
  /** The folder of the database, created if it is missing. */
  readonly dataDir: string;
  /** By default a free port. */
  readonly port?: number | undefined;
  /** For tests: fast, but data is lost if the machine crashes. */
  readonly ephemeral?: boolean;
  /** Receives the log of PostgreSQL, line by line. */
  readonly log?: (line: string) => void;
  /** Receives warnings about problems that do not prevent the start. */
  readonly warn?: (message: string) => void;
}

/** The maximum time that a previous PostgreSQL may take to end after the process that started it was killed. */
const shutdownMs = 10_000;
/** The maximum time in which such a PostgreSQL begins to shut down. One that has not begun by then is in use. */
const shutdownStartMs = 1_500;
const maxPortAttempts = 5;
const ports = { from: 30_000, to: 32_768 };

const portIsTaken = /could not bind IPv4 address .*Address already in use/;
const folderIsTaken = /lock file "postmaster\.pid" already exists|shared memory block .* is still in use/;

const inUseError = (dataDir: string, by: string): EmbeddedPostgresError =>
  new EmbeddedPostgresError(
    `The data folder ${dataDir} is in use by ${by}: stop that one first, or choose another folder.`,
  );

const notStarted = (dataDir: string, report: string): EmbeddedPostgresError =>
  programError('PostgreSQL did not start on the data folder', dataDir, report);

/** Returns the URL of a database by name. */
export const urlsOf =
  (password: string, port: number) =>
  (database: string): string =>
    `postgres://${superuser}:${password}@127.0.0.1:${port}/${encodeURIComponent(database)}`;

/** The longest path of a socket that Linux and macOS both accept, in bytes. */
const maxSocketPathBytes = 103;
const socketOf = (port: number): string => `.s.PGSQL.${port}`;

/** Returns the URL of a database by name, over the socket in the data folder; over TCP where its path is too long for a socket. */
const localUrlsOf = (password: string, port: number, dataDir: string): ((database: string) => string) => {
  if (Buffer.byteLength(path.join(dataDir, socketOf(port))) > maxSocketPathBytes) return urlsOf(password, port);
  const host = `${encodeURIComponent(dataDir)}:${port}`;
  return (database) => `postgres://${superuser}:${password}@${host}/${encodeURIComponent(database)}`;
};

/** Removes the sockets of processes that were killed. Only the process that runs on the folder may do it. */
const removeStaleSockets = async (dataDir: string, port: number): Promise<void> => {
  const current = [socketOf(port), `${socketOf(port)}.lock`];
  const stale = (await readdir(dataDir)).filter((name) => name.startsWith('.s.PGSQL.') && !current.includes(name));
  await Promise.all(stale.map((name) => rm(path.join(dataDir, name), { force: true })));
};

/** Starts PostgreSQL as soon as the folder is free: an instance of a killed process may still be shutting down. */
const startWhenFree = async (
  dataDir: string,
  fixedPort: number | undefined,
  start: (port: number) => Promise<Postmaster>,
) => {
  const startedAt = performance.now();
  let portsLeft = maxPortAttempts;
  for (;;) {
    const waitedMs = performance.now() - startedAt;
    const instance = await findRunningInstance(dataDir);
    if (instance !== undefined) {
      if (waitedMs > (instance.isStopping ? shutdownMs : shutdownStartMs))
        throw inUseError(dataDir, `another PostgreSQL (process ${instance.pid})`);
      await sleep(25);
      continue;
    }
    await removeStaleLock(dataDir);
    const port = fixedPort ?? (await freePort(ports));
    const postmaster = await start(port);
    if (postmaster.isReady) return { postmaster, port };

    const report = postmaster.report();
    if (portIsTaken.test(report)) {
      if (fixedPort === undefined && --portsLeft > 0) continue;
      throw new EmbeddedPostgresError(
        `Port ${port} of 127.0.0.1 is taken: stop the program that uses it, or choose another port.`,
      );
    }
    if (!folderIsTaken.test(report)) throw notStarted(dataDir, report);
    if (waitedMs > shutdownMs) throw inUseError(dataDir, 'another PostgreSQL');
    await sleep(100);
  }
};

/**
 * Starts a real PostgreSQL on a folder, and creates the database the first time. It listens on 127.0.0.1 and on a socket in the folder only,
 * requires a password, and ends with this process, even if that is killed.
 * @throws EmbeddedPostgresError with the cause and what to do about it
 */
export const startEmbeddedPostgres = async (options: EmbeddedPostgresOptions) => {
  const { ephemeral = false, log, warn = () => undefined } = options;
  const dataDir = path.resolve(options.dataDir);
  const { initdb, postgres } = preparePostgresBinaries();
  const existingPassword = await readPassword(dataDir);
  const runAs = await choosePostgresUser(postgres, dataDir, warn);
  const password = existingPassword ?? (await createDatabaseFolder(initdb, dataDir, runAs, !ephemeral));
  await changeOwner(runAs.owner, dataDir);

  const { postmaster, port } = await startWhenFree(dataDir, options.port, (chosenPort) =>
    startPostmaster({ postgres, dataDir, port: chosenPort, ephemeral, become: runAs.become, log }),
  );
  await removeStaleSockets(dataDir, port);
  let isStopping = false;
  const lost = new Promise<EmbeddedPostgresError>((resolve) => {
    void postmaster.ended.then(() => {
      if (!isStopping)
        resolve(new EmbeddedPostgresError(`PostgreSQL on ${dataDir} has ended. It reported:\n${postmaster.report()}`));
    });
  });
  const urlOf = urlsOf(password, port);
  return {
    /** the URL of the database `postgres`, with user and password */
    url: urlOf('postgres'),
    urlOf,
    /**
     * the same database for processes of this user: over a Unix socket, which takes half of the CPU of TCP on some machines, or over TCP where
     * the path of the folder is too long for one
     */
    localUrlOf: localUrlsOf(password, port, dataDir),
    port,
    pid: postmaster.pid,
    /** Resolves with the reason when PostgreSQL ends without `stop()`. */
    lost,
    /** Rolls back open transactions, and resolves when PostgreSQL has ended. */
    stop: (): Promise<void> => {
      isStopping = true;
      return postmaster.stop();
    },
  };
};
export type EmbeddedPostgres = Awaited<ReturnType<typeof startEmbeddedPostgres>>;
