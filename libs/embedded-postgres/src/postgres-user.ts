import { execFile } from 'node:child_process';
import { chown, mkdir, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { EmbeddedPostgresError } from './embedded-postgres-error.ts';
import { programSearchPath } from './program-search-path.ts';

const run = promisify(execFile);

/** The user that PostgreSQL runs as. */
export interface RunAs {
  /** the command prefix that switches to that user */
  readonly become: readonly string[];
  /** the required owner of the data folder, if it is another user than the one that creates it */
  readonly owner: { readonly uid: number; readonly gid: number } | undefined;
}

const nobody = { uid: 65534, gid: 65534 };

const switchToUser = ({ uid, gid }: { uid: number; gid: number }): readonly string[] => [
  'setpriv',
  `--reuid=${uid}`,
  `--regid=${gid}`,
  '--clear-groups',
  '--',
];

const mapRootToNobody = ['unshare', '--user', `--map-user=${nobody.uid}`, `--map-group=${nobody.gid}`, '--'];

const succeeds = async ([command = '', ...args]: readonly string[]): Promise<boolean> => {
  try {
    await run(command, args, { env: { PATH: programSearchPath() } });
    return true;
  } catch {
    return false;
  }
};

/**
 * PostgreSQL refuses to run as root. If this process is root, PostgreSQL runs as the ordinary user that owns the folder, or else as the
 * system user `nobody`, which becomes the owner. If that user cannot access the program or a folder of root, PostgreSQL runs in a user
 * namespace that maps root to `nobody`, with a warning: it then still has root's access to files.
 */
export const choosePostgresUser = async (
  postgres: string,
  dataDir: string,
  warn: (message: string) => void,
): Promise<RunAs> => {
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
};

/** Changes the owner of a folder and of everything in it. */
export const changeOwner = async (owner: RunAs['owner'], folder: string): Promise<void> => {
  if (owner === undefined || (await stat(folder)).uid === owner.uid) return;
  for (const entry of await readdir(folder, { recursive: true }))
    await chown(path.join(folder, entry), owner.uid, owner.gid);
  // Last, so that a start after an interruption repeats the whole change.
  await chown(folder, owner.uid, owner.gid);
};
