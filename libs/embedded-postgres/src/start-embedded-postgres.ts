import { type ChildProcess, spawn } from 'node:child_process';
import { readdir, rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  createDatabaseFolder,
  findRunningInstance,
  postgresProgramEnvironment,
  readPassword,
  removeStaleLock,
  superuser,
} from './data-folder.ts';
import {
  changeOwner,
  choosePostgresUser,
  EmbeddedPostgresError,
  preparePostgresBinaries,
  programError,
  type RunAs,
} from './postgres-program.ts';
import { commandEndingWithParent, freePort } from './processes.ts';

/** The timeout of a graceful shutdown, after which PostgreSQL is killed. */
const stopTimeoutMs = 10_000;
const keptLogLines = 20;

interface PostmasterOptions {
  readonly postgres: string;
  readonly dataDir: string;
  readonly port: number;
  readonly ephemeral: boolean;
  readonly become: RunAs['become'];
  readonly log: ((line: string) => void) | undefined;
}

function settings({ dataDir, port, ephemeral }: PostmasterOptions): readonly string[] {
  const values = {
    port,
    listen_addresses: '127.0.0.1',
    // The data folder, which is its working directory.
    unix_socket_directories: '.',
    // Many services of tests share an ephemeral one.
    max_connections: ephemeral ? 1_000 : 200,
    shared_buffers: '128MB',
    random_page_cost: 1.1,
    jit: 'off',
    timezone: 'UTC',
    log_timezone: 'UTC',
    lc_messages: 'C',
    log_destination: 'stderr',
    logging_collector: 'off',
    // The client gets the error of its statement; the statement and its values stay out of the log.
    log_min_messages: 'log',
    log_min_error_statement: 'panic',
    ...(ephemeral ? { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' } : {}),
  };
  return ['-D', dataDir, ...Object.entries(values).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
}

function withoutTimestamp(line: string): string {
  return line.replace(/^[-\d]+ [:.\d]+ UTC \[\d+\] /, '');
}

function handlesOf(child: ChildProcess) {
  return [child, child.stderr as Socket | null, child.stdin as Socket | null];
}

/** Lets this process exit while the child process runs. */
function release(child: ChildProcess): void {
  return handlesOf(child).forEach((handle) => handle?.unref());
}

/** Keeps this process running until the child process has ended. */
function hold(child: ChildProcess): void {
  return handlesOf(child).forEach((handle) => handle?.ref());
}

/** Starts PostgreSQL and waits until it accepts connections or ends. There is no timeout, because recovery after a crash takes any time. */
async function startPostmaster(options: PostmasterOptions) {
  const { command, args, stdin } = commandEndingWithParent([options.postgres, ...settings(options)], {
    signal: 'INT',
    become: options.become,
  });
  // A session of its own: Ctrl-C reaches only the services, which stop PostgreSQL when they have finished.
  const child = spawn(command, args, {
    stdio: [stdin, 'ignore', 'pipe'],
    env: postgresProgramEnvironment,
    detached: true,
  });
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => {
      child.stdin?.end('\n');
      resolve();
    });
  });

  const lines: string[] = [];
  const isReady = await new Promise<boolean>((resolve) => {
    const addLine = (line: string): void => {
      if (line === '') return;
      lines.push(withoutTimestamp(line));
      if (lines.length > keptLogLines) lines.shift();
      options.log?.(line);
      if (/database system is ready to accept (read-only )?connections$/.test(line)) resolve(true);
    };
    let incompleteLine = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      const parts = (incompleteLine + text).split('\n');
      incompleteLine = parts.pop() ?? '';
      parts.forEach(addLine);
    });
    child.once('error', (error) => {
      addLine(String(error));
      resolve(false);
    });
    child.once('close', () => resolve(false));
  });

  // The child process does not prevent this process from exiting; its connections do.
  release(child);
  let stopping: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    hold(child);
    child.kill(options.ephemeral ? 'SIGQUIT' : 'SIGINT');
    const killTimer = setTimeout(() => child.kill('SIGQUIT'), stopTimeoutMs);
    await ended;
    clearTimeout(killTimer);
  };
  return {
    pid: child.pid ?? 0,
    isReady,
    /** its last log lines */
    report: (): string => lines.join('\n'),
    ended,
    stop: (): Promise<void> => (stopping ??= stop()),
  };
}

/** A PostgreSQL process that was started and either accepts connections or has ended. */
export type Postmaster = Awaited<ReturnType<typeof startPostmaster>>;

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

function inUseError(dataDir: string, by: string): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    `The data folder ${dataDir} is in use by ${by}: stop that one first, or choose another folder.`,
  );
}

function notStarted(dataDir: string, report: string): EmbeddedPostgresError {
  return programError('PostgreSQL did not start on the data folder', dataDir, report);
}

/** Returns the URL of a database by name. */
function urlsOf(password: string, port: number) {
  return (database: string): string =>
    `postgres://${superuser}:${password}@127.0.0.1:${port}/${encodeURIComponent(database)}`;
}

/** The longest path of a socket that Linux and macOS both accept, in bytes. */
const maxSocketPathBytes = 103;
function socketOf(port: number): string {
  return `.s.PGSQL.${port}`;
}

/** Returns the URL of a database by name, over the socket in the data folder; over TCP where its path is too long for a socket. */
function localUrlsOf(password: string, port: number, dataDir: string): (database: string) => string {
  if (Buffer.byteLength(path.join(dataDir, socketOf(port))) > maxSocketPathBytes) return urlsOf(password, port);
  const host = `${encodeURIComponent(dataDir)}:${port}`;
  return (database) => `postgres://${superuser}:${password}@${host}/${encodeURIComponent(database)}`;
}

/** Removes the sockets of processes that were killed. Only the process that runs on the folder may do it. */
async function removeStaleSockets(dataDir: string, port: number): Promise<void> {
  const current = [socketOf(port), `${socketOf(port)}.lock`];
  const stale = (await readdir(dataDir)).filter((name) => name.startsWith('.s.PGSQL.') && !current.includes(name));
  await Promise.all(stale.map((name) => rm(path.join(dataDir, name), { force: true })));
}

/** Starts PostgreSQL as soon as the folder is free: an instance of a killed process may still be shutting down. */
async function startWhenFree(
  dataDir: string,
  fixedPort: number | undefined,
  start: (port: number) => Promise<Postmaster>,
) {
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
}

/**
 * Starts a real PostgreSQL on a folder, and creates the database the first time. It listens on 127.0.0.1 and on a socket in the folder only,
 * requires a password, and ends with this process, even if that is killed.
 * @throws EmbeddedPostgresError with the cause and what to do about it
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions) {
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
}
export type EmbeddedPostgres = Awaited<ReturnType<typeof startEmbeddedPostgres>>;

/** The maximum time that a running PostgreSQL may take until it listens: after a crash it recovers first. */
const startTimeoutMs = 10_000;

/**
 * Connects to the PostgreSQL that runs on a database folder, or starts one. `stop()` stops only a PostgreSQL that was started here.
 * @throws EmbeddedPostgresError for a folder without a database
 */
export async function connectOrStartEmbeddedPostgres(options: {
  readonly dataDir: string;
}): Promise<Pick<EmbeddedPostgres, 'urlOf' | 'stop'>> {
  const dataDir = path.resolve(options.dataDir);
  const password = await readPassword(dataDir);
  if (password === undefined)
    throw new EmbeddedPostgresError(
      `There is no database in ${dataDir}: start Bunting on it first, or choose another folder.`,
    );
  for (const startedAt = performance.now(); performance.now() - startedAt < startTimeoutMs; await sleep(25)) {
    const instance = await findRunningInstance(dataDir);
    if (instance === undefined || instance.isStopping) break;
    if (instance.port !== undefined) return { urlOf: urlsOf(password, instance.port), stop: () => Promise.resolve() };
  }
  return startEmbeddedPostgres({ dataDir });
}
