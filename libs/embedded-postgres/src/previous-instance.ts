import { execFile } from 'node:child_process';
import { readdir, readFile, readlink, realpath, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { isAlive } from './tether.ts';

const run = promisify(execFile);

/** A PostgreSQL that already uses the folder. */
export interface PreviousInstance {
  readonly pid: number;
  /** the port, once it listens */
  readonly port: number | undefined;
  /** whether it is shutting down, as after the process that started it was killed */
  readonly stopping: boolean;
}

/** The processes whose working directory is the folder: the postmaster and its backends. */
const processesIn = async (dataDir: string): Promise<number[]> => {
  const folder = await realpath(dataDir);
  const found: number[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    if ((await readlink(`/proc/${name}/cwd`).catch(() => '')) === folder) found.push(Number(name));
  }
  return found;
};

const isPostgresOf = async (pid: number, dataDir: string): Promise<boolean> => {
  const { stdout } = await run('ps', ['-o', 'command=', '-p', String(pid)]).catch(() => ({ stdout: '' }));
  return stdout.includes('postgres') && stdout.includes(dataDir);
};

/**
 * The PostgreSQL that uses the folder. Its lock file may be a leftover of a killed process whose id now belongs to another program, as
 * after the restart of a container. PostgreSQL would then never start again, so such a lock file is removed.
 */
export const previousInstance = async (dataDir: string): Promise<PreviousInstance | undefined> => {
  const file = path.join(dataDir, 'postmaster.pid');
  const lines = (await readFile(file, 'utf8').catch(() => '')).split('\n');
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  const status = lines[7]?.trim();
  const instance = {
    pid,
    port: status === 'ready' ? Number(lines[3]) : undefined,
    stopping: status === 'stopping',
  };
  if (process.platform !== 'linux') return (await isPostgresOf(pid, dataDir)) ? instance : undefined;

  const processes = await processesIn(dataDir);
  if (processes.includes(pid)) return instance;
  if (processes.length === 0 && isAlive(pid)) await rm(file, { force: true });
  return undefined;
};
