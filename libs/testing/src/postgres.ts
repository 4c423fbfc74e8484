import { createHash, randomBytes } from 'node:crypto';
import pg from 'pg';
import { testPostgresUrl, withClient } from './postgres-server.ts';

/** The template of which fresh databases are copies. */
export interface Preparation {
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

const makeTemplate = (server: string, template: string, { migrate }: Preparation): Promise<void> =>
  withClient(server, async (client) => {
    // Workers prepare the same template concurrently: the first one does the work. The lock ends with the connection.
    await client.query('SELECT pg_advisory_lock(hashtextextended($1, 0))', [template]);
    const { rows } = await client.query('SELECT datistemplate FROM pg_database WHERE datname = $1', [template]);
    if ((rows[0] as { datistemplate: boolean } | undefined)?.datistemplate === true) return;
    await client.query(`DROP DATABASE IF EXISTS ${identifier(template)} WITH (FORCE)`);
    await client.query(`CREATE DATABASE ${identifier(template)} TEMPLATE template0`);
    await migrate(urlOf(server, template));
    await client.query(`ALTER DATABASE ${identifier(template)} WITH IS_TEMPLATE true ALLOW_CONNECTIONS false`);
  });

const templates = new Map<string, Promise<string>>();

const templateOf = (server: string, preparation: Preparation): Promise<string> => {
  const { key } = preparation;
  const template = nameOf('template', key, createHash('sha256').update(key).digest('hex').slice(0, 12));
  const made = templates.get(key) ?? makeTemplate(server, template, preparation).then(() => template);
  templates.set(key, made);
  return made;
};

/**
 * Creates a database for one test file: an empty one, or a copy of a template. It exists until `drop()` or the end of the server.
 */
export const freshDatabase = async (name = 'test', preparation?: Preparation) => {
  const server = await testPostgresUrl();
  const template = preparation === undefined ? 'template0' : await templateOf(server, preparation);
  const database = nameOf('fresh', name, randomBytes(6).toString('hex'));
  await withClient(server, (client) =>
    client.query(`CREATE DATABASE ${identifier(database)} TEMPLATE ${identifier(template)}`),
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
