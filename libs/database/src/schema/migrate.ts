import type { MigrationObject } from '@mikro-orm/core';
import { Migration, Migrator } from '@mikro-orm/migrations';
import { MikroORM } from '@mikro-orm/postgresql';
import { createHash } from 'node:crypto';
import { Client, type ClientConfig, type Pool } from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';
import { instrumentConnection } from '../connection/instrument-connection.ts';
import { codeOf } from '../failures/failures.ts';
import { onlyRow } from '../only-row.ts';

/** One migration. Follow expand → backfill → contract, so that the previous version still runs on the migrated schema (docs/upgrading.md). */
export interface SchemaMigration {
  /**
   * `2-expand-favorites` or `3-contract-favorites`, unless it makes the first tables of a database. Versions that do not know a migration
   * run on a schema that it expanded, and refuse any other.
   */
  readonly name: string;
  readonly statements: readonly string[];
  /**
   * Creates indexes concurrently, so outside a transaction: each statement is committed by itself. After an interruption all of them are
   * repeated, so each index is first dropped if it exists.
   */
  readonly concurrently?: boolean;
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

/** Where a PostgreSQL is, for messages: host and port, or folder and port of a Unix socket. */
export const hostOf = (url: string): string => decodeURIComponent(new URL(url).host);

/** The migrations for MikroORM's migrator. They run without a statement timeout. */
const ormMigrations = (migrations: readonly SchemaMigration[]): MigrationObject[] =>
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
  const version = onlyRow(rows).number;
  if (version >= oldestVersion) return;
  throw new Error(
    `The PostgreSQL at ${hostOf(url)} is version ${version}; Bunting needs ${oldestVersion} or newer, for its transaction_timeout.`,
  );
};

/** Deadlines are times of the caller's clock: beyond this difference every write would be late. */
const maxClockDifferenceMs = 30_000;

/** How many milliseconds this machine's clock is ahead of PostgreSQL's, to within half a round trip. */
const clockDifferenceMs = async (client: Client): Promise<number> => {
  const before = Date.now();
  const { rows } = await client.query<{ ms: number }>(
    'select extract(epoch from clock_timestamp())::float8 * 1000 as ms',
  );
  return (before + Date.now()) / 2 - onlyRow(rows).ms;
};

const requireSameClock = async (client: Client, url: string): Promise<void> => {
  const differenceMs = await clockDifferenceMs(client);
  if (Math.abs(differenceMs) <= maxClockDifferenceMs) return;
  throw new Error(
    `The clock of this machine is ${Math.abs(differenceMs / 1_000).toFixed(0)} s ${differenceMs > 0 ? 'ahead of' : 'behind'} that of the PostgreSQL at ${hostOf(url)}. ` +
      'Synchronise both with NTP, then start again: deadlines of requests need clocks that agree.',
  );
};

/** How long PostgreSQL may take to respond before the connection counts as lost, unless the caller says otherwise. */
const defaultLostAfterMs = 30_000;

/** For statements that may take as long as they need: the longest timer of Node. */
const unlimited = { query_timeout: 2 ** 31 - 1 };

/** A connection outside the pool. A lost connection shows in the query that fails; without a listener the error would end the process. */
const connectionTo = async (url: string, lostAfterMs = defaultLostAfterMs, name = 'start'): Promise<Client> => {
  const client = new Client({
    ...keepAlive,
    application_name: `bunting-${name}`,
    connectionString: url,
    connectionTimeoutMillis: 5_000,
    query_timeout: lostAfterMs,
  });
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

/** The digest of the statements of a migration, whatever their comments and white space. */
const checksumOf = ({ statements }: SchemaMigration): string => {
  const texts = statements.map((text) => text.replace(/--.*$/gm, '').replace(/\s+/g, ' ').trim());
  return createHash('sha256').update(JSON.stringify(texts)).digest('hex');
};

const lockKey = (database: string): string =>
  createHash('sha256').update(`bunting migration of ${database}`).digest().readBigInt64BE().toString();

interface AppliedMigration {
  readonly name: string;
  /** null if a version without checksums applied it */
  readonly checksum: string | null;
}

const namesOf = (applied: readonly AppliedMigration[]): readonly string[] => applied.map(({ name }) => name);

const appliedMigrations = async (client: Client): Promise<readonly AppliedMigration[]> => {
  const { rows } = await client.query<{ exists: boolean }>('select to_regclass($1) is not null as exists', [
    migrationsTable,
  ]);
  if (!onlyRow(rows).exists) return [];
  // As JSON, because versions without checksums made the table without their column.
  const applied = await client.query<AppliedMigration>(
    `select name, to_jsonb(${migrationsTable}) ->> 'checksum' as checksum from ${migrationsTable} order by name`,
  );
  return applied.rows;
};

/** Whether versions without the migration run on the schema after it. */
const isExpansion = (name: string): boolean => /^\d+-expand-/.test(name);

/** Throws for a migration that was changed after it was applied: the database lacks the change. */
const requireUnchanged = (
  applied: readonly AppliedMigration[],
  database: string,
  migrations: readonly SchemaMigration[],
): void => {
  const checksums = new Map(applied.map(({ name, checksum }) => [name, checksum]));
  const changed = migrations.find((step) => (checksums.get(step.name) ?? checksumOf(step)) !== checksumOf(step));
  if (changed === undefined) return;
  throw new Error(
    `The migration "${changed.name}" was changed after it had been applied to the database ${database}, which lacks the change. ` +
      'Start the version that applied it, or undo the change and add a migration with it. A database without data of value can be dropped instead.',
  );
};

/** The applied migrations of newer versions. Throws unless all of them expand the schema. */
const requireSuitable = (
  applied: readonly string[],
  database: string,
  migrations: readonly SchemaMigration[],
): readonly string[] => {
  const newer = applied.filter((name) => !migrations.some((step) => step.name === name));
  const unsuitable = newer.filter((name) => !isExpansion(name));
  if (unsuitable.length === 0) return newer;
  throw new NewerDatabaseError(
    `The database ${database} was written by a newer version of Bunting (it has the migration "${unsuitable.at(-1)}", which this version does not know). ` +
      'Start that version, or restore a backup from before the upgrade.',
  );
};

const databaseOf = (url: string): string => decodeURIComponent(new URL(url).pathname.slice(1));

/** The schema of a database as a process sees it. */
export interface SchemaVersion {
  /** number of migrations that the process needs, all of which are applied */
  readonly needs: number;
  /** number of migrations that are applied */
  readonly has: number;
  /** the applied migrations of newer versions; the process runs on the schema after them */
  readonly newer: readonly string[];
}

/** The schema version for these applied migrations. Throws, with what to do, when a process of this version cannot run on it. */
export const schemaVersion = (
  url: string,
  applied: readonly string[],
  migrations: readonly SchemaMigration[],
): SchemaVersion => {
  const database = databaseOf(url);
  const newer = requireSuitable(applied, database, migrations);
  const missing = migrations.find(({ name }) => !applied.includes(name));
  if (missing === undefined) return { needs: migrations.length, has: applied.length, newer };
  throw new Error(
    applied.length === 0
      ? `The database ${database} at ${hostOf(url)} holds nothing of Bunting.`
      : `The database ${database} was left by an older version of Bunting (it lacks the migration "${missing.name}"): start this version on it first.`,
  );
};

/** Throws when the database is missing, or when a process with these migrations cannot run on its schema. It changes nothing. */
export const requireMigrated = async (
  url: string,
  migrations: readonly SchemaMigration[],
  lostAfterMs: number,
): Promise<void> => {
  const database = databaseOf(url);
  const client = await connectionTo(url, lostAfterMs).catch((error: unknown) => {
    if ((error as { code?: string }).code !== missingDatabase) throw error;
    throw new Error(`There is no database ${database} at ${hostOf(url)}.`, { cause: error });
  });
  try {
    const applied = await appliedMigrations(client);
    schemaVersion(url, namesOf(applied), migrations);
    requireUnchanged(applied, database, migrations);
  } finally {
    await client.end();
  }
};

/** The errors of PostgreSQL when objects of a migration are there already, or objects of an earlier one are missing (class 42). */
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

const lockPollMs = 200;

/** The process that holds the lock for migrations, as PostgreSQL knows it. */
const describeLockHolder = async (client: Client, database: string): Promise<string> => {
  const { rows } = await client.query<{ pid: number; application: string; client: string; connectedSeconds: number }>(
    `select pid, coalesce(nullif(application_name, ''), 'a process') as application, coalesce(host(client_addr), 'a Unix socket') as client,
       extract(epoch from clock_timestamp() - backend_start)::int as "connectedSeconds"
     from pg_locks join pg_stat_activity using (pid)
     where locktype = 'advisory' and objsubid = 1 and granted
       and (classid::bigint << 32) | objid::bigint = $1`,
    [lockKey(database)],
  );
  const holder = rows[0];
  if (holder === undefined) return 'another process';
  const { pid, application, client: from, connectedSeconds } = holder;
  return `${application} (backend ${pid} of PostgreSQL, connected from ${from} for ${connectedSeconds} s)`;
};

/**
 * Waits for the lock under which one process at a time migrates the database, and logs once which process it waits for. It polls, because
 * a statement that waits for a lock holds a snapshot, for which CREATE INDEX CONCURRENTLY of the process with the lock would wait in turn.
 */
const lockForMigration = async (client: Client, database: string, warn: (message: string) => void): Promise<void> => {
  for (let tries = 1; ; tries++) {
    const { rows } = await client.query<{ locked: boolean }>(
      `select pg_try_advisory_lock(${lockKey(database)}) as locked`,
    );
    if (onlyRow(rows).locked) return;
    if (tries === 1)
      warn(
        `The start waits until ${await describeLockHolder(client, database)} has migrated the database ${database}. ` +
          'If that process has ended, PostgreSQL frees its lock within half a minute.',
      );
    await sleep(lockPollMs * (0.5 + Math.random()));
  }
};

/** Applies one migration outside a transaction. An interrupted one is repeated from its first statement. */
const migrateConcurrently = async (client: Client, { name, statements }: SchemaMigration): Promise<void> => {
  for (const text of statements) await client.query({ text, ...unlimited });
  await client.query(`insert into ${migrationsTable} (name) values ($1)`, [name]);
};

/** MikroORM creates the table of migrations before it applies the first: a start that is refused then leaves the database unchanged. */
const dropIfEmpty = `
  do $$ begin
    if to_regclass('${migrationsTable}') is null then return; end if;
    if not exists (select from ${migrationsTable}) then drop table ${migrationsTable}; end if;
  end $$`;

export interface MigrateOptions {
  /** of the service, for `pg_stat_activity` */
  readonly name: string;
  /** how long PostgreSQL may take to respond to anything but a migration before the connection counts as lost */
  readonly lostAfterMs: number;
  readonly warn: (message: string) => void;
}

/** MikroORM for its migrator: on connections of its own, without the timeouts of calls. */
const openMigrator = (url: string, migrations: readonly SchemaMigration[], { name, warn }: MigrateOptions) =>
  MikroORM.init({
    clientUrl: url,
    extensions: [Migrator],
    ensureDatabase: false,
    discovery: { warnWhenNoEntities: false },
    logger: warn,
    debug: false,
    colors: false,
    pool: { min: 0, max: 1 },
    driverOptions: {
      ...keepAlive,
      application_name: `bunting-${name}`,
      connectionTimeoutMillis: 5_000,
      onPoolCreated: (pool: Pool) => pool.on('connect', (connection) => instrumentConnection(connection)),
    },
    migrations: {
      migrationsList: ormMigrations(migrations),
      snapshot: false,
      tableName: migrationsTable,
      silent: true,
    },
  });

/** Applies migrations in their order. @param applied the names of those that are applied */
const applyMigrations = async (
  client: Client,
  { migrator }: MikroORM,
  migrations: readonly SchemaMigration[],
  applied: readonly string[],
): Promise<void> => {
  for (const [at, step] of migrations.entries()) {
    if (step.concurrently !== true || applied.includes(step.name)) continue;
    await migrator.up({ migrations: migrations.slice(0, at).map(({ name }) => name) });
    await migrateConcurrently(client, step);
  }
  await migrator.up();
};

/** Whether all migrations are applied, with their checksums. */
const isComplete = (applied: readonly AppliedMigration[], migrations: readonly SchemaMigration[]): boolean =>
  migrations.every((step) => applied.some(({ name, checksum }) => name === step.name && checksum !== null));

/** Stores the checksums of applied migrations that have none: new ones, and those that a version without checksums applied. */
const storeMissingChecksums = async (
  client: Pick<Client, 'query'>,
  migrations: readonly SchemaMigration[],
): Promise<void> => {
  await client.query(`alter table ${migrationsTable} add column if not exists checksum text`);
  for (const step of migrations)
    await client.query(`update ${migrationsTable} set checksum = $2 where name = $1 and checksum is null`, [
      step.name,
      checksumOf(step),
    ]);
};

/**
 * Applies the missing migrations, one process at a time; refuses a database of a newer version, and one whose migrations were changed after
 * they were applied. Without a missing one it takes no lock.
 */
export const migrate = async (
  url: string,
  migrations: readonly SchemaMigration[],
  options: MigrateOptions,
): Promise<void> => {
  const client = await connectionTo(url, options.lostAfterMs, `${options.name}-migrations`);
  try {
    const database = databaseOf(url);
    const readApplied = async (): Promise<readonly AppliedMigration[]> => {
      const applied = await appliedMigrations(client);
      requireSuitable(namesOf(applied), database, migrations);
      requireUnchanged(applied, database, migrations);
      return applied;
    };
    if (isComplete(await readApplied(), migrations)) return;
    await lockForMigration(client, database, options.warn);
    const applied = namesOf(await readApplied());
    const orm = await openMigrator(url, migrations, options);
    try {
      await applyMigrations(client, orm, migrations, applied);
      await storeMissingChecksums(client, migrations);
    } catch (error) {
      if (applied.length === 0) await client.query(dropIfEmpty).catch(() => undefined);
      throw explainFailedMigration(database, error);
    } finally {
      await orm.close(true);
    }
  } finally {
    await client.end();
  }
};

/** Creates the database of the URL where it is missing. A user of an existing database needs no right beyond it. */
export const createDatabaseIfMissing = async (url: string, lostAfterMs?: number): Promise<void> => {
  try {
    return await (await connectionTo(url, lostAfterMs)).end();
  } catch (error) {
    if ((error as { code?: string }).code !== missingDatabase) throw error;
  }
  const maintenance = new URL(url);
  const name = databaseOf(url);
  maintenance.pathname = '/postgres';
  const client = await connectionTo(maintenance.href, lostAfterMs);
  try {
    await client.query({ text: `create database ${client.escapeIdentifier(name)}`, ...unlimited });
  } catch (error) {
    if ((error as { code?: string }).code !== '42P04' && (error as { code?: string }).code !== '23505') throw error;
  } finally {
    await client.end();
  }
};

/**
 * Creates the schema that migrations make, in the transaction of the caller, in a database without tables. It waits until no service
 * migrates the database; services that start wait until that transaction ends.
 */
export const createSchema = async (
  client: Pick<Client, 'query'>,
  database: string,
  migrations: readonly SchemaMigration[],
): Promise<void> => {
  await client.query(`select pg_advisory_xact_lock(${lockKey(database)})`);
  // As MikroORM's migrator creates it.
  await client.query(`create table ${migrationsTable} (
    id serial primary key, name varchar(255) not null, executed_at timestamptz(6) not null default current_timestamp(6)
  )`);
  for (const { name, statements, concurrently = false } of migrations) {
    for (const statement of statements)
      // Without rows and other users there is nothing to wait for, and a transaction allows no other form.
      await client.query(concurrently ? statement.replace(/\bconcurrently\b/i, '') : statement);
    await client.query(`insert into ${migrationsTable} (name) values ($1)`, [name]);
  }
  await storeMissingChecksums(client, migrations);
};
