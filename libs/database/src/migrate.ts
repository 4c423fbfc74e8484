import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { databaseOf, hostAndPortOf, openSingleConnection, withoutTimeout } from './connection.ts';
import { codeOf } from './failures.ts';
import {
  type AppliedMigration,
  appliedMigrations,
  checksumOf,
  migrationNames,
  migrationsTable,
  requireExpansions,
  requireUnchanged,
  type SchemaMigration,
  schemaVersion,
} from './schema-version.ts';
import { onlyRow } from './sql.ts';

interface MigrateOptions {
  /** the name of the service, for `pg_stat_activity` */
  readonly name: string;
  /** how long PostgreSQL may take to respond to anything but a migration before the connection counts as lost */
  readonly lostAfterMs: number;
  readonly warn: (message: string) => void;
}

/**
 * Applies the missing migrations, one process at a time; refuses a database of a newer version, and one whose migrations were changed after
 * they were applied. If none is missing, it takes no lock. Of migrations in transactions all are applied or none.
 */
export async function migrate(
  url: string,
  migrations: readonly SchemaMigration[],
  { name, lostAfterMs, warn }: MigrateOptions,
): Promise<void> {
  const client = await openSingleConnection(url, lostAfterMs, `${name}-migrations`);
  try {
    const database = databaseOf(url);
    const readApplied = async (): Promise<readonly AppliedMigration[]> => {
      const applied = await appliedMigrations(client);
      requireExpansions(migrationNames(applied), database, migrations);
      requireUnchanged(applied, database, migrations);
      return applied;
    };
    if (isComplete(await readApplied(), migrations)) return;
    await lockForMigration(client, database, warn);
    const applied = migrationNames(await readApplied());
    const missing = migrations.filter((migration) => !applied.includes(migration.name));
    await applyMissing(client, missing).catch((error: unknown) => {
      throw explainFailedMigration(database, error);
    });
  } finally {
    // Also rolls back a migration that has failed.
    await client.end();
  }
}

/**
 * Applies migrations to a database without tables, in the transaction of the caller. It waits until no service
 * migrates the database; services that start wait until that transaction ends.
 */
export async function migrateEmptyDatabase(
  client: Pick<Client, 'query'>,
  database: string,
  migrations: readonly SchemaMigration[],
): Promise<void> {
  await client.query(`select pg_advisory_xact_lock(${lockKey(database)})`);
  await client.query(createMigrationsTable);
  // No transaction can create an index concurrently; and without rows and other users there is nothing to wait for.
  for (const migration of migrations)
    await applyMigration(client, migration, (statement) =>
      migration.concurrently === true ? statement.replace(/\bconcurrently\b/i, '') : statement,
    );
}

/** Throws when the database is missing, or when a process with these migrations cannot run on its schema. It changes nothing. */
export async function requireMigrated(
  url: string,
  migrations: readonly SchemaMigration[],
  lostAfterMs: number,
): Promise<void> {
  const database = databaseOf(url);
  const client = await openSingleConnection(url, lostAfterMs).catch((error: unknown) => {
    if (codeOf(error) !== missingDatabase) throw error;
    throw new Error(`There is no database ${database} at ${hostAndPortOf(url)}.`, { cause: error });
  });
  try {
    const applied = await appliedMigrations(client);
    schemaVersion(url, migrationNames(applied), migrations);
    requireUnchanged(applied, database, migrations);
  } finally {
    await client.end();
  }
}

/** Creates the database of the URL where it is missing. A user of an existing database needs no right beyond it. */
export async function createDatabaseIfMissing(url: string, lostAfterMs?: number): Promise<void> {
  try {
    return await (await openSingleConnection(url, lostAfterMs)).end();
  } catch (error) {
    if (codeOf(error) !== missingDatabase) throw error;
  }
  const maintenance = new URL(url);
  maintenance.pathname = '/postgres';
  const client = await openSingleConnection(maintenance.href, lostAfterMs);
  try {
    await client.query({ text: `create database ${client.escapeIdentifier(databaseOf(url))}`, ...withoutTimeout });
  } catch (error) {
    // Another process has created it.
    if (!['42P04', '23505'].includes(codeOf(error) ?? '')) throw error;
  } finally {
    await client.end();
  }
}

/** The SQLSTATE of a connection to a database that does not exist. */
const missingDatabase = '3D000';

/** As MikroORM's migrator, which earlier versions used, created it. */
const createMigrationsTable = `create table if not exists ${migrationsTable} (
  id serial primary key, name varchar(255) not null, executed_at timestamptz(6) not null default current_timestamp(6), checksum text
)`;

function isComplete(applied: readonly AppliedMigration[], migrations: readonly SchemaMigration[]): boolean {
  return migrations.every((step) => applied.some(({ name }) => name === step.name));
}

/**
 * Applies migrations in their order, in one transaction up to the next that creates indexes concurrently. Such a one is applied outside a
 * transaction, and repeated from its first statement after an interruption.
 */
async function applyMissing(client: Client, missing: readonly SchemaMigration[]): Promise<void> {
  const begin = 'begin; set local statement_timeout = 0';
  await client.query(begin);
  await client.query(createMigrationsTable);
  for (const migration of missing) {
    if (migration.concurrently === true) await client.query({ text: 'commit', ...withoutTimeout });
    await applyMigration(client, migration);
    if (migration.concurrently === true) await client.query(begin);
  }
  await client.query({ text: 'commit', ...withoutTimeout });
}

async function applyMigration(
  client: Pick<Client, 'query'>,
  migration: SchemaMigration,
  adapt: (statement: string) => string = (statement) => statement,
): Promise<void> {
  for (const statement of migration.statements) await client.query({ text: adapt(statement), ...withoutTimeout });
  const row = [migration.name, checksumOf(migration)];
  await client.query(`insert into ${migrationsTable} (name, checksum) values ($1, $2)`, row);
}

/** The error with the next step, when objects of a migration exist already, or those of an earlier one are missing (class 42). */
function explainFailedMigration(database: string, error: unknown): unknown {
  const code = codeOf(error) ?? '';
  if (!code.startsWith('42') || code === '42501') return error;
  return new Error(
    `The migrations of the database ${database} do not fit what it holds (${(error as Error).message}). No data was changed. ` +
      'It was restored in part, or changed by hand: restore it completely from a backup, or name an empty database.',
    { cause: error },
  );
}

/** The key of the advisory lock under which a database is migrated. */
function lockKey(database: string): string {
  return createHash('sha256').update(`bunting migration of ${database}`).digest().readBigInt64BE().toString();
}

const lockPollMs = 200;
/** Replicas that start together wait for each other for a moment. */
const warnAfterMs = 3_000;

/**
 * Waits for the lock under which one process at a time migrates the database, and logs once which process it waits for. It polls, because
 * a statement that waits for a lock holds a snapshot, for which CREATE INDEX CONCURRENTLY of the process with the lock would wait in turn.
 */
async function lockForMigration(client: Client, database: string, warn: (message: string) => void): Promise<void> {
  const startedAt = performance.now();
  for (let hasWarned = false; ;) {
    const { rows } = await client.query<{ locked: boolean }>(
      `select pg_try_advisory_lock(${lockKey(database)}) as locked`,
    );
    if (onlyRow(rows).locked) return;
    if (!hasWarned && performance.now() - startedAt > warnAfterMs) {
      hasWarned = true;
      warn(
        `The start waits until ${await describeLockHolder(client, database)} has migrated the database ${database}. ` +
          'If that process has ended, PostgreSQL frees its lock within half a minute.',
      );
    }
    await sleep(lockPollMs * (0.5 + Math.random()));
  }
}

/** The process that holds the lock for migrations, described from what PostgreSQL shows of its connection. */
async function describeLockHolder(client: Client, database: string): Promise<string> {
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
  const { pid, application, client: address, connectedSeconds } = holder;
  return `${application} (backend ${pid} of PostgreSQL, connected from ${address} for ${connectedSeconds} s)`;
}
