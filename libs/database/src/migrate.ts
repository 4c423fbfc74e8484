import type { MikroORM } from '@mikro-orm/postgresql';
import type { MigrationObject } from '@mikro-orm/core';
import { Migration } from '@mikro-orm/migrations';
import { createHash } from 'node:crypto';
import { Client, type ClientConfig } from 'pg';
import { codeOf } from './failures.ts';

/** One migration. Follow expand → backfill → contract, so that the previous version still runs on the migrated schema. */
export interface SchemaMigration {
  /** sorts after the names of earlier migrations, e.g. `2-favorites` */
  readonly name: string;
  readonly statements: readonly string[];
}

/** The table with the names of the applied migrations. */
export const migrationsTable = 'schema_migration';

/**
 * TCP keep-alive on both ends, so that a connection whose other end has vanished is closed within half a minute. By default the
 * server would hold its locks for two hours, and block migrations and relays of other processes.
 */
export const keepAlive = {
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
  options: '-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=4',
} satisfies ClientConfig;

/** The migrations for MikroORM's migrator. They run without a statement timeout. */
export const ormMigrations = (migrations: readonly SchemaMigration[]): MigrationObject[] =>
  migrations.map((step) => ({
    name: step.name,
    class: class extends Migration {
      override up(): void {
        for (const statement of ['set local statement_timeout = 0', ...step.statements]) this.addSql(statement);
      }
    },
  }));

const missingDatabase = '3D000';

/** The database was migrated by a newer version of Bunting. */
export class NewerDatabaseError extends Error {}

/** The first version with `transaction_timeout`. */
const oldestVersion = 17;

const requireVersion = async (client: Client, url: string): Promise<void> => {
  const { rows } = await client.query<{ number: number }>(
    "select current_setting('server_version_num')::integer / 10000 as number",
  );
  const version = rows[0]?.number ?? 0;
  if (version >= oldestVersion) return;
  throw new Error(
    `The PostgreSQL at ${new URL(url).host} is version ${version}; Bunting needs ${oldestVersion} or newer, for its transaction_timeout.`,
  );
};

/** Deadlines are given as times of the caller's clock: beyond this difference every write would be late. */
const maxClockDifferenceMs = 30_000;

/** How many milliseconds this machine's clock is ahead of PostgreSQL's, to within half a round trip. */
const clockDifferenceMs = async (client: Client): Promise<number> => {
  const before = Date.now();
  const { rows } = await client.query<{ ms: number }>(
    'select extract(epoch from clock_timestamp())::float8 * 1000 as ms',
  );
  return (before + Date.now()) / 2 - (rows[0]?.ms ?? Number.NaN);
};

const requireSameClock = async (client: Client, url: string): Promise<void> => {
  const differenceMs = await clockDifferenceMs(client);
  if (Math.abs(differenceMs) <= maxClockDifferenceMs) return;
  throw new Error(
    `The clock of this machine is ${Math.abs(differenceMs / 1_000).toFixed(0)} s ${differenceMs > 0 ? 'ahead of' : 'behind'} that of the PostgreSQL at ${new URL(url).host}. ` +
      'Synchronise both with NTP, then start again: deadlines of requests need clocks that agree.',
  );
};

/** A connection outside the pool. A lost connection shows in the query that fails; without a listener the error would end the process. */
const connectionTo = async (url: string): Promise<Client> => {
  const client = new Client({ ...keepAlive, connectionString: url, connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    await requireVersion(client, url);
    await requireSameClock(client, url);
  } catch (error) {
    await client.end();
    throw error;
  }
  return client;
};

const lockKey = (database: string): string =>
  createHash('sha256').update(`bunting migration of ${database}`).digest().readBigInt64BE().toString();

const appliedMigrations = async (client: Client): Promise<readonly string[]> => {
  const { rows } = await client.query<{ exists: boolean }>('select to_regclass($1) is not null as exists', [
    migrationsTable,
  ]);
  if (rows[0]?.exists !== true) return [];
  const taken = await client.query<{ name: string }>(`select name from ${migrationsTable} order by name`);
  return taken.rows.map(({ name }) => name);
};

/** The names of the applied migrations. Throws when one of them is unknown to this version. */
const requireKnownMigrations = async (
  client: Client,
  database: string,
  migrations: readonly SchemaMigration[],
): Promise<readonly string[]> => {
  const taken = await appliedMigrations(client);
  const unknown = taken.filter((name) => !migrations.some((step) => step.name === name));
  if (unknown.length === 0) return taken;
  throw new NewerDatabaseError(
    `The database ${database} was written by a newer version of Bunting (it has the migration "${unknown.at(-1)}", which this version does not know). ` +
      'Start that version, or restore a backup from before the upgrade.',
  );
};

const databaseOf = (url: string): string => decodeURIComponent(new URL(url).pathname.slice(1));

/** Throws when the database is missing or does not have exactly these migrations. It changes nothing. */
export const requireMigrated = async (url: string, migrations: readonly SchemaMigration[]): Promise<void> => {
  const database = databaseOf(url);
  const client = await connectionTo(url).catch((error: unknown) => {
    if ((error as { code?: string }).code !== missingDatabase) throw error;
    throw new Error(`There is no database ${database} at ${new URL(url).host}.`, { cause: error });
  });
  try {
    const taken = await requireKnownMigrations(client, database, migrations);
    const missing = migrations.find(({ name }) => !taken.includes(name));
    if (missing === undefined) return;
    throw new Error(
      taken.length === 0
        ? `The database ${database} at ${new URL(url).host} holds nothing of Bunting.`
        : `The database ${database} was left by an older version of Bunting (it lacks the migration "${missing.name}"): start this version on it first.`,
    );
  } finally {
    await client.end();
  }
};

/** What PostgreSQL says when objects of a migration are there already, or objects of an earlier one are missing (class 42). */
const explainFailedMigration = (database: string, error: unknown): unknown => {
  const code = codeOf(error) ?? '';
  if (!code.startsWith('42') || code === '42501') return error;
  const reason = (error as Error).message.split('\n').at(-1);
  return new Error(
    `The migrations of the database ${database} do not fit what it holds (${reason}). No data was changed. ` +
      'It was restored in part, or changed by hand: restore it completely from a backup, or name an empty database.',
    { cause: error },
  );
};

/** Applies the missing migrations, one process at a time; refuses a database of a newer version. */
export const migrate = async (orm: MikroORM, url: string, migrations: readonly SchemaMigration[]): Promise<void> => {
  const client = await connectionTo(url);
  try {
    const database = databaseOf(url);
    await client.query(`select pg_advisory_lock(${lockKey(database)})`);
    await requireKnownMigrations(client, database, migrations);
    await orm.migrator.up().catch((error: unknown) => Promise.reject(explainFailedMigration(database, error)));
  } finally {
    await client.end();
  }
};

/** Creates the database of the URL where it is missing. A user of an existing database needs no right beyond it. */
export const createDatabaseIfMissing = async (url: string): Promise<void> => {
  try {
    return await (await connectionTo(url)).end();
  } catch (error) {
    if ((error as { code?: string }).code !== missingDatabase) throw error;
  }
  const maintenance = new URL(url);
  const name = databaseOf(url);
  maintenance.pathname = '/postgres';
  const client = await connectionTo(maintenance.href);
  try {
    await client.query(`create database ${client.escapeIdentifier(name)}`);
  } catch (error) {
    if ((error as { code?: string }).code !== '42P04' && (error as { code?: string }).code !== '23505') throw error;
  } finally {
    await client.end();
  }
};
