import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDataFolder, readPassword, superuser } from './data-folder.ts';
import { EmbeddedPostgresError, programFailed } from './embedded-postgres-error.ts';
import { freePort } from './free-port.ts';
import { type Postmaster, startPostmaster } from './postmaster.ts';
import { previousInstance } from './previous-instance.ts';
import { findPrograms } from './programs.ts';
import { changeOwner, chooseUser } from './run-as.ts';

export interface EmbeddedPostgresOptions {
  /** Made where it is missing; holds the database from then on. */
  readonly dataDir: string;
  /** A free one where none is given. */
  readonly port?: number | undefined;
  /** For tests: fast, and lost when the machine stops. */
  readonly ephemeral?: boolean;
  /** Takes what PostgreSQL itself reports, line by line. */
  readonly log?: (line: string) => void;
  /** Takes what is not as it should be, although PostgreSQL runs. */
  readonly warn?: (message: string) => void;
}

export interface EmbeddedPostgres {
  /** of the database `postgres`, with user and password */
  readonly url: string;
  urlOf(database: string): string;
  readonly port: number;
  readonly pid: number;
  /** Resolves with the reason when PostgreSQL ends without having been stopped. */
  readonly lost: Promise<EmbeddedPostgresError>;
  /** Rolls back what is open, and resolves when PostgreSQL is gone. */
  stop(): Promise<void>;
}

/** How long a PostgreSQL may take to end whose process was killed a moment ago. */
const handoverMs = 10_000;
/** How long such a one may take to begin with it: one that still runs then is in use. */
const noticeMs = 1_500;
const portsTried = 5;

const portIsTaken = /could not bind IPv4 address .*Address already in use/;
const folderIsTaken = /lock file "postmaster\.pid" already exists|shared memory block .* is still in use/;

const inUse = (dataDir: string, by: string): EmbeddedPostgresError =>
  new EmbeddedPostgresError(
    `The data folder ${dataDir} is in use by ${by}: stop that one first, or choose another folder.`,
  );

const notStarted = (dataDir: string, report: string): EmbeddedPostgresError =>
  programFailed('PostgreSQL did not start on the data folder', dataDir, report);

/** Where each database of a PostgreSQL is found. */
export const urlsOf =
  (password: string, port: number) =>
  (database: string): string =>
    `postgres://${superuser}:${password}@127.0.0.1:${port}/${encodeURIComponent(database)}`;

/** Starts it as soon as the folder is free: whoever held it until a moment ago may still be ending. */
const startWhenFree = async (
  dataDir: string,
  fixedPort: number | undefined,
  start: (port: number) => Promise<Postmaster>,
) => {
  const began = performance.now();
  let portsLeft = portsTried;
  for (;;) {
    const waited = performance.now() - began;
    const other = await previousInstance(dataDir);
    if (other !== undefined) {
      if (waited > (other.stopping ? handoverMs : noticeMs))
        throw inUse(dataDir, `another PostgreSQL (process ${other.pid})`);
      await sleep(25);
      continue;
    }
    const port = fixedPort ?? (await freePort());
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
    if (waited > handoverMs) throw inUse(dataDir, 'another PostgreSQL');
    await sleep(100);
  }
};

/**
 * Starts a real PostgreSQL on a folder, which it makes a database of the first time. It listens on 127.0.0.1 only, asks for
 * a password, and ends with this process however that ends. What cannot be is said in an `EmbeddedPostgresError`.
 */
export const startEmbeddedPostgres = async (options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> => {
  const { ephemeral = false, log, warn = () => undefined } = options;
  const dataDir = path.resolve(options.dataDir);
  const { initdb, postgres } = findPrograms();
  const known = await readPassword(dataDir);
  const runAs = await chooseUser(postgres, dataDir, warn);
  const password = known ?? (await createDataFolder(initdb, dataDir, runAs, !ephemeral));
  await changeOwner(runAs.owner, dataDir);

  const { postmaster, port } = await startWhenFree(dataDir, options.port, (on) =>
    startPostmaster({ postgres, dataDir, port: on, ephemeral, become: runAs.become, log }),
  );
  let isWanted = true;
  const lost = new Promise<EmbeddedPostgresError>((resolve) => {
    void postmaster.ended.then(() => {
      if (isWanted)
        resolve(new EmbeddedPostgresError(`PostgreSQL on ${dataDir} has ended. It reported:\n${postmaster.report()}`));
    });
  });
  const urlOf = urlsOf(password, port);
  return {
    url: urlOf('postgres'),
    urlOf,
    port,
    pid: postmaster.pid,
    lost,
    stop: () => {
      isWanted = false;
      return postmaster.stop();
    },
  };
};
