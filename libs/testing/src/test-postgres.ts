import { createHash, randomBytes } from 'node:crypto';
import { appendFileSync, chmodSync, cpSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@bunting/embedded-postgres';
import pg from 'pg';
import { temporaryFolder } from './process-resources.ts';

/** Runs a job on one connection, and closes it. */
export async function withClient<T>(url: string, job: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await job(client);
  } finally {
    await client.end();
  }
}

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** How many rows of tables, or entries of their indexes alone, PostgreSQL reads for a statement, which is executed. */
export function rowsReadBy(url: string, text: string, values: readonly unknown[]): Promise<number> {
  const rowsOf = (node: PlanNode): number => {
    const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);
    // The rows of a bitmap of an index are those that the scan of its table reads.
    const isTable = /^(?:Seq|Index|Index Only|Bitmap Heap) Scan$/.test(node['Node Type']);
    const own = isTable ? (node['Actual Rows'] + removed) * node['Actual Loops'] : 0;
    return (node.Plans ?? []).reduce((sum, child) => sum + rowsOf(child), own);
  };
  return withClient(url, async (client) => {
    const { rows } = await client.query<{ plan: readonly { readonly Plan: PlanNode }[] }>(
      `explain (analyze, format json) ${text}`,
      [...values],
    );
    const [[plan] = []] = rows.map((row) => Object.values(row)[0] as (typeof row)['plan']);
    if (plan === undefined) throw new Error('PostgreSQL explained nothing.');
    return rowsOf(plan.Plan);
  });
}

/** The URL of the same database over TCP, if the given URL is one over a Unix socket. */
export function overTcp(url: string): string {
  const { username, password, hostname, port, pathname } = new URL(url);
  return hostname.startsWith('%2F') ? `postgres://${username}:${password}@127.0.0.1:${port}${pathname}` : url;
}

/** Starts a PostgreSQL for tests. It ends with this process, and its data is deleted. */
export async function startTestPostgres(
  folderName = `bunting-test-postgres-${process.pid}-${randomBytes(4).toString('hex')}`,
): Promise<{ url: string; stop(): Promise<void> }> {
  const folder = temporaryFolder(folderName);
  const server = await startEmbeddedPostgres({ dataDir: path.join(folder.path, 'data'), ephemeral: true });
  const url = server.localUrlOf('postgres');
  // With hundreds of databases one of its workers would always run; the tables of a test live too shortly to need them.
  await withClient(url, async (client) => {
    await client.query('ALTER SYSTEM SET autovacuum = off');
    // Copies of templates then share their blocks, where the file system can do that.
    await client.query('ALTER SYSTEM SET file_copy_method = clone');
    await client.query('SELECT pg_reload_conf()');
  });
  return {
    url,
    stop: async () => {
      await server.stop();
      await folder.remove();
    },
  };
}

let sharedUrl: Promise<string> | undefined;

/** The PostgreSQL of this run: `TEST_POSTGRES_URL` if it is set, as by `npm test`; otherwise a server of this process. */
export function testPostgresUrl(): Promise<string> {
  const url = process.env['TEST_POSTGRES_URL'];
  return (sharedUrl ??=
    url === undefined || url === '' ? startTestPostgres().then((server) => server.url) : Promise.resolve(url));
}

/** A migrated database of which fresh databases are copies. */
export interface DatabaseTemplate {
  /** Identifies the result of `migrate`, which runs once per key and test run. */
  readonly key: string;
  /** Migrates an empty database and closes its connections. */
  readonly migrate: (url: string) => Promise<void>;
}

function nameOf(prefix: string, text: string, suffix: string): string {
  return `${prefix}_${text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .slice(0, 32)}_${suffix}`;
}

function urlOf(server: string, database: string): string {
  const url = new URL(server);
  url.pathname = `/${database}`;
  return url.href;
}

function identifier(name: string): string {
  return pg.escapeIdentifier(name);
}

function createTemplate(server: string, name: string, { migrate }: DatabaseTemplate): Promise<void> {
  return withClient(server, async (client) => {
    // Workers prepare the same template concurrently: the first one does the work. The lock ends with the connection.
    await client.query('SELECT pg_advisory_lock(hashtextextended($1, 0))', [name]);
    const { rows } = await client.query('SELECT datistemplate FROM pg_database WHERE datname = $1', [name]);
    if ((rows[0] as { datistemplate: boolean } | undefined)?.datistemplate === true) return;
    await client.query(`DROP DATABASE IF EXISTS ${identifier(name)} WITH (FORCE)`);
    await client.query(`CREATE DATABASE ${identifier(name)} TEMPLATE template0`);
    await migrate(urlOf(server, name));
    await client.query(`ALTER DATABASE ${identifier(name)} WITH IS_TEMPLATE true ALLOW_CONNECTIONS false`);
  });
}

const templates = new Map<string, Promise<string>>();

/** Creates the database of a template if the server has none of its key, and returns its name. */
function ensureTemplate(server: string, template: DatabaseTemplate): Promise<string> {
  const { key } = template;
  const name = nameOf('template', key, createHash('sha256').update(key).digest('hex').slice(0, 12));
  const creation = templates.get(key) ?? createTemplate(server, name, template).then(() => name);
  templates.set(key, creation);
  return creation;
}

/**
 * Creates a database for one test file: an empty one, or a copy of a template. It exists until `drop()` or the end of the server.
 */
export async function freshDatabase(name = 'test', template?: DatabaseTemplate) {
  const server = await testPostgresUrl();
  const source = template === undefined ? 'template0' : await ensureTemplate(server, template);
  const database = nameOf('fresh', name, randomBytes(6).toString('hex'));
  // Copied as files, it takes half of the CPU that copying block by block through the log does.
  await withClient(server, (client) =>
    client.query(`CREATE DATABASE ${identifier(database)} TEMPLATE ${identifier(source)} STRATEGY FILE_COPY`),
  );
  return {
    url: urlOf(server, database),
    /** Drops the database, even while there are connections. */
    drop: async (): Promise<void> => {
      await withClient(server, (client) =>
        client.query(`DROP DATABASE IF EXISTS ${identifier(database)} WITH (FORCE)`),
      );
    },
  };
}
export type FreshDatabase = Awaited<ReturnType<typeof freshDatabase>>;

/** Starts a PostgreSQL and a streaming replica of it. Both end with this process, and their data is deleted. */
export async function startReplicatedPostgres() {
  const folder = temporaryFolder(`bunting-test-replicated-${process.pid}`);
  const [dataDir, replicaDir] = [path.join(folder.path, 'primary'), path.join(folder.path, 'replica')] as const;
  // A copy of the data folder of a stopped server is a base backup.
  await (await startEmbeddedPostgres({ dataDir, ephemeral: true })).stop();
  cpSync(dataDir, replicaDir, { recursive: true });
  chmodSync(replicaDir, 0o700);
  const primary = await startEmbeddedPostgres({ dataDir, ephemeral: true });
  const { username, password, port } = new URL(primary.url);
  writeFileSync(path.join(replicaDir, 'standby.signal'), '');
  appendFileSync(
    path.join(replicaDir, 'postgresql.auto.conf'),
    `primary_conninfo = 'host=127.0.0.1 port=${port} user=${username} password=${password}'\n`,
  );
  let replica: EmbeddedPostgres = await startEmbeddedPostgres({ dataDir: replicaDir, ephemeral: true });
  const replicaPort = replica.port;
  return {
    primary,
    get replica() {
      return replica;
    },
    stopReplica: (): Promise<void> => replica.stop(),
    /** Starts the replica again on its port. */
    restartReplica: async (): Promise<void> => {
      replica = await startEmbeddedPostgres({ dataDir: replicaDir, port: replicaPort, ephemeral: true });
    },
    stop: async (): Promise<void> => {
      await replica.stop();
      await primary.stop();
      await folder.remove();
    },
  };
}
export type ReplicatedPostgres = Awaited<ReturnType<typeof startReplicatedPostgres>>;
