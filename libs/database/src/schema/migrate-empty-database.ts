import { type Client } from 'pg';
import { storeMissingChecksums } from './migration-checksums.ts';
import { lockKey } from './migration-lock.ts';
import { type SchemaMigration, migrationsTable } from './schema-migration.ts';

/**
 * Applies migrations to a database without tables, in the transaction of the caller. It waits until no service
 * migrates the database; services that start wait until that transaction ends.
 */
export const migrateEmptyDatabase = async (
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
      // No transaction can create an index concurrently; and without rows and other users there is nothing to wait for.
      await client.query(concurrently ? statement.replace(/\bconcurrently\b/i, '') : statement);
    await client.query(`insert into ${migrationsTable} (name) values ($1)`, [name]);
  }
  await storeMissingChecksums(client, migrations);
};
