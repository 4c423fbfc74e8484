import type { MigrationObject } from '@mikro-orm/core';
import { Migration, Migrator } from '@mikro-orm/migrations';
import { MikroORM } from '@mikro-orm/postgresql';
import { type Client, type Pool } from 'pg';
import { configureConnection } from '../connection/configure-connection.ts';
import { keepAlive } from '../connection/keep-alive.ts';
import { openSingleConnection, withoutTimeout } from '../connection/open-single-connection.ts';
import { databaseOf } from '../connection/postgres-url.ts';
import { codeOf } from '../failures/database-failures.ts';
import { appliedMigrations, type AppliedMigration, migrationNames } from './applied-migrations.ts';
import { requireUnchanged, storeMissingChecksums } from './migration-checksums.ts';
import { lockForMigration } from './migration-lock.ts';
import { type SchemaMigration, migrationsTable } from './schema-migration.ts';
import { requireExpansions } from './schema-version.ts';

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

/** The error with the next step, when objects of a migration exist already, or those of an earlier one are missing (class 42). */
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

/** Applies one migration outside a transaction. An interrupted one is repeated from its first statement. */
const migrateConcurrently = async (client: Client, { name, statements }: SchemaMigration): Promise<void> => {
  for (const text of statements) await client.query({ text, ...withoutTimeout });
  await client.query(`insert into ${migrationsTable} (name) values ($1)`, [name]);
};

/** Drops the table that MikroORM creates before the first migration, so that a failed start leaves an empty database unchanged. */
const dropIfEmpty = `
  do $$ begin
    if to_regclass('${migrationsTable}') is null then return; end if;
    if not exists (select from ${migrationsTable}) then drop table ${migrationsTable}; end if;
  end $$`;

interface MigrateOptions {
  /** the name of the service, for `pg_stat_activity` */
  readonly name: string;
  /** how long PostgreSQL may take to respond to anything but a migration before the connection counts as lost */
  readonly lostAfterMs: number;
  readonly warn: (message: string) => void;
}

/** Opens MikroORM with its migrator, on connections of its own without the timeouts of calls. */
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
      onPoolCreated: (pool: Pool) => pool.on('connect', (connection) => configureConnection(connection)),
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
  for (const [index, step] of migrations.entries()) {
    if (step.concurrently !== true || applied.includes(step.name)) continue;
    await migrator.up({ migrations: migrations.slice(0, index).map(({ name }) => name) });
    await migrateConcurrently(client, step);
  }
  await migrator.up();
};

/** Whether all migrations are applied, with their checksums. */
const isComplete = (applied: readonly AppliedMigration[], migrations: readonly SchemaMigration[]): boolean =>
  migrations.every((step) => applied.some(({ name, checksum }) => name === step.name && checksum !== null));

/**
 * Applies the missing migrations, one process at a time; refuses a database of a newer version, and one whose migrations were changed after
 * they were applied. If none is missing, it takes no lock.
 */
export const migrate = async (
  url: string,
  migrations: readonly SchemaMigration[],
  options: MigrateOptions,
): Promise<void> => {
  const client = await openSingleConnection(url, options.lostAfterMs, `${options.name}-migrations`);
  try {
    const database = databaseOf(url);
    const readApplied = async (): Promise<readonly AppliedMigration[]> => {
      const applied = await appliedMigrations(client);
      requireExpansions(migrationNames(applied), database, migrations);
      requireUnchanged(applied, database, migrations);
      return applied;
    };
    if (isComplete(await readApplied(), migrations)) return;
    await lockForMigration(client, database, options.warn);
    const applied = migrationNames(await readApplied());
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
