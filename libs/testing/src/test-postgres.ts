import { startEmbeddedPostgres } from '@bunting/embedded-postgres';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { temporaryFolder } from './temporary-folder.ts';

/** Runs a job on one connection, and closes it. */
export const withClient = async <T>(url: string, job: (client: pg.Client) => Promise<T>): Promise<T> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await job(client);
  } finally {
    await client.end();
  }
};

/** The URL of the same database over TCP, if the given URL is one over a Unix socket. */
export const overTcp = (url: string): string => {
  const { username, password, hostname, port, pathname } = new URL(url);
  return hostname.startsWith('%2F') ? `postgres://${username}:${password}@127.0.0.1:${port}${pathname}` : url;
};

/** Starts a PostgreSQL for tests. It ends with this process, and its data is deleted. */
export const startTestPostgres = async (
  folderName = `bunting-test-postgres-${process.pid}`,
): Promise<{ url: string; stop(): Promise<void> }> => {
  const folder = temporaryFolder(folderName);
  const server = await startEmbeddedPostgres({ dataDir: path.join(folder.path, 'data'), ephemeral: true });
  const url = server.localUrlOf('postgres');
  writeFileSync(path.join(folder.path, 'url'), url, { mode: 0o600 });
  return {
    url,
    stop: async () => {
      await server.stop();
      await folder.remove();
    },
  };
};

/**
 * Vitest runs many test files in one worker process. The first file starts a server, and the later files
 * find it by its folder.
 */
const startOrFind = async (): Promise<string> => {
  const name = `bunting-test-postgres-${process.pid}`;
  const folder = path.join(tmpdir(), name);
  const folderStats = statSync(folder, { throwIfNoEntry: false });
  if (folderStats !== undefined) {
    if (folderStats.uid !== process.getuid?.())
      throw new Error(`${folder} belongs to another user: remove it, or set TMPDIR.`);
    try {
      const url = readFileSync(path.join(folder, 'url'), 'utf8');
      await withClient(url, (client) => client.query('SELECT 1'));
      return url;
    } catch {
      // The folder belongs to an earlier process with the same process id.
      rmSync(folder, { recursive: true, force: true });
    }
  }
  return (await startTestPostgres(name)).url;
};

let sharedUrl: Promise<string> | undefined;

/** The PostgreSQL of this run: `TEST_POSTGRES_URL` if it is set, as by `npm test`; otherwise a server of this process. */
export const testPostgresUrl = (): Promise<string> => {
  const url = process.env['TEST_POSTGRES_URL'];
  return (sharedUrl ??= url === undefined || url === '' ? startOrFind() : Promise.resolve(url));
};
