import { createHash, randomBytes } from 'node:crypto';
import pg from 'pg';
import { testPostgresUrl, withClient } from './test-postgres.ts';

/** A migrated database of which fresh databases are copies. */
export interface DatabaseTemplate {
  /** Identifies the result of `migrate`, which runs once per key and test run. */
  readonly key: string;
  /** Migrates an empty database and closes its connections. */
  readonly migrate: (url: string) => Promise<void>;
}

const nameOf = (prefix: string, text: string, suffix: string): string =>
  `${prefix}_${text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .slice(0, 32)}_${suffix}`;

const urlOf = (server: string, database: string): string => {
  const url = new URL(server);
  url.pathname = `/${database}`;
  return url.href;
};

const identifier = (name: string): string => pg.escapeIdentifier(name);

const createTemplate = (server: string, name: string, { migrate }: DatabaseTemplate): Promise<void> =>
  withClient(server, async (client) => {
    // Workers prepare the same template concurrently: the first one does the work. The lock ends with the connection.
    await client.query('SELECT pg_advisory_lock(hashtextextended($1, 0))', [name]);
    const { rows } = await client.query('SELECT datistemplate FROM pg_database WHERE datname = $1', [name]);
    if ((rows[0] as { datistemplate: boolean } | undefined)?.datistemplate === true) return;
    await client.query(`DROP DATABASE IF EXISTS ${identifier(name)} WITH (FORCE)`);
    await client.query(`CREATE DATABASE ${identifier(name)} TEMPLATE template0`);
    await migrate(urlOf(server, name));
    await client.query(`ALTER DATABASE ${identifier(name)} WITH IS_TEMPLATE true ALLOW_CONNECTIONS false`);
  });

const templates = new Map<string, Promise<string>>();

/** Creates the database of a template if the server has none of its key, and returns its name. */
const ensureTemplate = (server: string, template: DatabaseTemplate): Promise<string> => {
  const { key } = template;
  const name = nameOf('template', key, createHash('sha256').update(key).digest('hex').slice(0, 12));
  const creation = templates.get(key) ?? createTemplate(server, name, template).then(() => name);
  templates.set(key, creation);
  return creation;
};

/**
 * Creates a database for one test file: an empty one, or a copy of a template. It exists until `drop()` or the end of the server.
 */
export const freshDatabase = async (name = 'test', template?: DatabaseTemplate) => {
  const server = await testPostgresUrl();
  const source = template === undefined ? 'template0' : await ensureTemplate(server, template);
  const database = nameOf('fresh', name, randomBytes(6).toString('hex'));
  await withClient(server, (client) =>
    client.query(`CREATE DATABASE ${identifier(database)} TEMPLATE ${identifier(source)}`),
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
};
export type FreshDatabase = Awaited<ReturnType<typeof freshDatabase>>;
