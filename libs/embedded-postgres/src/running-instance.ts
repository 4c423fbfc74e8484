import { execFile } from 'node:child_process';
import { readdir, readFile, readlink, realpath, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { isAlive } from './is-alive.ts';

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
const processesIn = async (dataDir: string): Promise<number[]> => {
  const folder = await realpath(dataDir);
  const pids: number[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    if ((await readlink(`/proc/${name}/cwd`).catch(() => '')) === folder) pids.push(Number(name));
  }
  return pids;
};

const isPostgresOf = async (pid: number, dataDir: string): Promise<boolean> => {
  const { stdout } = await run('ps', ['-o', 'command=', '-p', String(pid)]).catch(() => ({ stdout: '' }));
  return stdout.includes('postgres') && stdout.includes(dataDir);
};

/** What PostgreSQL wrote into the lock file of its folder. */
const readLockFile = async (dataDir: string) => {
  const file = path.join(dataDir, 'postmaster.pid');
  const lines = (await readFile(file, 'utf8').catch(() => '')).split('\n');
  const [pid, port, status] = [Number(lines[0]), Number(lines[3]), lines[7]?.trim()];
  return Number.isInteger(pid) && pid > 0 ? { file, pid, port, status } : undefined;
};

/** Finds the PostgreSQL that runs on a data folder. */
export const findRunningInstance = async (dataDir: string): Promise<RunningInstance | undefined> => {
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
};

/**
 * Removes the lock file of a killed PostgreSQL whose process id now belongs to another program, as after the restart of a container:
 * PostgreSQL would never start again with it. It removes other stale lock files itself.
 */
export const removeStaleLock = async (dataDir: string): Promise<void> => {
  const lock = await readLockFile(dataDir);
  if (process.platform !== 'linux' || lock === undefined || !isAlive(lock.pid)) return;
  if ((await processesIn(dataDir)).length > 0) return;
  await rm(lock.file, { force: true });
  await rm(path.join(dataDir, `.s.PGSQL.${lock.port}.lock`), { force: true });
};
