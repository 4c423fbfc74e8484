import { createHash, randomBytes } from 'node:crypto';
import pg from 'pg';
import { testPostgresUrl, withClient } from './postgres-server.ts';

/** A database of one test file. */
export interface FreshDatabase {
  readonly url: string;
  /** Drops it, whoever is still connected. */
  drop(): Promise<void>;
}

/** How the database is made that fresh ones are copies of. */
export interface Preparation {
  /** Names what `migrate` makes: the first preparation of a key is the last of the run. */
  readonly key: string;
  /** Fills an empty database, and closes its connections when it is done. */
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
    // Other workers prepare the same at the same time: the first does it, and the lock ends with the connection.
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
 * Makes a database that nobody else uses: an empty one, or a copy of one that was prepared before. It goes when it is
 * dropped, or with the server when the run is over.
 */
export const freshDatabase = async (name = 'test', preparation?: Preparation): Promise<FreshDatabase> => {
  const server = await testPostgresUrl();
  const template = preparation === undefined ? 'template0' : await templateOf(server, preparation);
  const database = nameOf('fresh', name, randomBytes(6).toString('hex'));
  await withClient(server, (client) =>
    client.query(`CREATE DATABASE ${identifier(database)} TEMPLATE ${identifier(template)}`),
  );
  return {
    url: urlOf(server, database),
    drop: async () => {
      await withClient(server, (client) =>
        client.query(`DROP DATABASE IF EXISTS ${identifier(database)} WITH (FORCE)`),
      );
    },
  };
};
