import { execFile, type ExecFileException } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  access,
  constants,
  mkdir,
  open,
  readdir,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import {
  changeOwner,
  EmbeddedPostgresError,
  postgresMajorVersion,
  programError,
  type RunAs,
} from './postgres-program.ts';
import { commandEndingWithParent, isAlive, programSearchPath } from './processes.ts';

/** The only user of the database. Its password is in the data folder, readable by the owner only. */
export const superuser = 'bunting';
const passwordFile = 'superuser-password';

/** The environment of PostgreSQL's programs, without the variables of this process. */
export const postgresProgramEnvironment = { PATH: programSearchPath(), LC_ALL: 'C', TZ: 'UTC' };

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}

function unusableFolder(dataDir: string, error: unknown): EmbeddedPostgresError {
  const { code = String(error), path: faultyPath = dataDir } = error as NodeJS.ErrnoException;
  return new EmbeddedPostgresError(
    `The data folder ${dataDir} cannot be used by this user (${code} at ${faultyPath}): make it writable, start as its owner, or choose another folder.`,
  );
}

/** The password of the database in a folder; undefined if there is no database yet. Throws if the folder cannot be used. */
export async function readPassword(dataDir: string): Promise<string | undefined> {
  let entries: string[];
  try {
    if (!(await stat(dataDir)).isDirectory()) {
      throw new EmbeddedPostgresError(`The data folder ${dataDir} is a file: choose another place.`);
    }
    entries = await readdir(dataDir);
    await access(dataDir, constants.W_OK);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error instanceof EmbeddedPostgresError ? error : unusableFolder(dataDir, error);
  }
  if (entries.length === 0) return undefined;
  if (!entries.includes('PG_VERSION')) {
    throw new EmbeddedPostgresError(
      `The data folder ${dataDir} holds other files and no database: choose an empty or a new folder.`,
    );
  }
  try {
    const version = (await readFile(path.join(dataDir, 'PG_VERSION'), 'utf8')).trim();
    if (version !== postgresMajorVersion) {
      throw new EmbeddedPostgresError(
        `The data folder ${dataDir} was made by PostgreSQL ${version}, and this is PostgreSQL ${postgresMajorVersion}: choose another folder, or carry the data over with pg_dump of version ${version}.`,
      );
    }
    if (!entries.includes(passwordFile)) {
      throw new EmbeddedPostgresError(
        `The data folder ${dataDir} holds a database without the file ${passwordFile}, so it was not made here: put the file back, or choose another folder.`,
      );
    }
    return (await readFile(path.join(dataDir, passwordFile), 'utf8')).trim();
  } catch (error) {
    throw error instanceof EmbeddedPostgresError ? error : unusableFolder(dataDir, error);
  }
}

async function flush(file: string): Promise<void> {
  const handle = await open(file, 'r');
  await handle.sync().finally(() => handle.close());
}

// macOS has no locale C.UTF-8. The sort order there is that of PostgreSQL's built-in locale as well.
const characterType = process.platform === 'darwin' ? 'en_US.UTF-8' : 'C.UTF-8';

interface InitdbOptions {
  readonly folder: string;
  /** the file that holds the password */
  readonly passwordPath: string;
  readonly become: RunAs['become'];
  readonly durable: boolean;
}

async function runInitdb(initdb: string, { folder, passwordPath, become, durable }: InitdbOptions): Promise<void> {
  const { command, args, stdin } = commandEndingWithParent(
    [
      initdb,
      `--pgdata=${folder}`,
      `--username=${superuser}`,
      `--pwfile=${passwordPath}`,
      '--auth=scram-sha-256',
      // The password is 256 random bits: stretching it would only make each connection slower.
      '--set=scram_iterations=1',
      '--encoding=UTF8',
      '--locale=C',
      `--lc-ctype=${characterType}`,
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--no-instructions',
      ...(durable ? [] : ['--no-sync']),
    ],
    { signal: 'INT', become },
  );
  await new Promise<void>((resolve, reject) => {
    const child = execFile(
      command,
      [...args],
      { env: postgresProgramEnvironment },
      (error: ExecFileException | null, _out, stderr) => {
        if (stdin === 'pipe') child.stdin?.end('\n');
        if (error === null) return resolve();
        reject(programError('PostgreSQL could not make a database in', folder, stderr.trim() || error.message));
      },
    );
  });
}

/** Removes the leftovers of starts that were killed half-way. */
async function removeLeftovers(parent: string, prefix: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const pid = name.startsWith(prefix) ? Number(name.slice(prefix.length).split('-')[0]) : Number.NaN;
    // The initdb of a killed start ends by itself, and until then adds files.
    if (Number.isInteger(pid) && !isAlive(pid))
      await rm(path.join(parent, name), { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
}

/**
 * Creates a database in a missing or empty folder, and returns its password. The database is created in a neighbouring folder and renamed
 * when complete, so that after a crash the folder holds either a complete database or nothing.
 */
export async function createDatabaseFolder(
  initdb: string,
  dataDir: string,
  runAs: RunAs,
  durable: boolean,
): Promise<string> {
  const parent = path.dirname(dataDir);
  const prefix = `.${path.basename(dataDir)}.new-`;
  const temporaryFolder = path.join(parent, `${prefix}${process.pid}-${randomBytes(4).toString('hex')}`);
  const [folder, passwordPath] = [path.join(temporaryFolder, 'data'), path.join(temporaryFolder, passwordFile)];
  const password = randomBytes(32).toString('base64url');
  try {
    await mkdir(parent, { recursive: true, mode: 0o700 });
    await removeLeftovers(parent, prefix);
    await mkdir(temporaryFolder, { mode: 0o700 });
    await writeFile(passwordPath, password, { mode: 0o600, flush: durable });
    await changeOwner(runAs.owner, temporaryFolder);
    await runInitdb(initdb, { folder, passwordPath, become: runAs.become, durable });
    await rename(passwordPath, path.join(folder, passwordFile));
    if (durable) await flush(folder);
    await rename(folder, dataDir);
    if (durable) await flush(parent);
    return password;
  } catch (error) {
    if (error instanceof EmbeddedPostgresError) throw error;
    // Another process created the database first: its password counts.
    const existingPassword = ['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')
      ? await readPassword(dataDir)
      : undefined;
    if (existingPassword === undefined) throw unusableFolder(dataDir, error);
    return existingPassword;
  } finally {
    await rm(temporaryFolder, { recursive: true, force: true });
  }
}

const run = promisify(execFile);

/** A PostgreSQL that runs on a data folder. */
interface RunningInstance {
  readonly pid: number;
  /** the port, once it listens */
  readonly port: number | undefined;
  /** whether it is shutting down, as after the process that started it was killed */
  readonly isStopping: boolean;
}

/** The processes whose working directory is the folder: the postmaster and its backends. */
async function processesIn(dataDir: string): Promise<number[]> {
  const folder = await realpath(dataDir);
  const pids: number[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    if ((await readlink(`/proc/${name}/cwd`).catch(() => '')) === folder) pids.push(Number(name));
  }
  return pids;
}

async function isPostgresOf(pid: number, dataDir: string): Promise<boolean> {
  const { stdout } = await run('ps', ['-o', 'command=', '-p', String(pid)]).catch(() => ({ stdout: '' }));
  return stdout.includes('postgres') && stdout.includes(dataDir);
}

/** What PostgreSQL wrote into the lock file of its folder. */
async function readLockFile(dataDir: string) {
  const file = path.join(dataDir, 'postmaster.pid');
  const lines = (await readFile(file, 'utf8').catch(() => '')).split('\n');
  const [pid, port, status] = [Number(lines[0]), Number(lines[3]), lines[7]?.trim()];
  return Number.isInteger(pid) && pid > 0 ? { file, pid, port, status } : undefined;
}

/** Finds the PostgreSQL that runs on a data folder. */
export async function findRunningInstance(dataDir: string): Promise<RunningInstance | undefined> {
  const lock = await readLockFile(dataDir);
  if (lock === undefined) return undefined;
  const isRunning =
    process.platform === 'linux'
      ? (await processesIn(dataDir)).includes(lock.pid)
      : await isPostgresOf(lock.pid, dataDir);
  if (!isRunning) return undefined;
  return {
    pid: lock.pid,
    port: lock.status === 'ready' ? lock.port : undefined,
    isStopping: lock.status === 'stopping',
  };
}

/**
 * Removes the lock file of a killed PostgreSQL whose process id now belongs to another program, as after the restart of a container:
 * PostgreSQL would never start again with it. It removes other stale lock files itself.
 */
export async function removeStaleLock(dataDir: string): Promise<void> {
  const lock = await readLockFile(dataDir);
  if (process.platform !== 'linux' || lock === undefined || !isAlive(lock.pid)) return;
  if ((await processesIn(dataDir)).length > 0) return;
  await rm(lock.file, { force: true });
  await rm(path.join(dataDir, `.s.PGSQL.${lock.port}.lock`), { force: true });
}
