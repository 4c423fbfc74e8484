import { createHash } from 'node:crypto';
import type { Client } from 'pg';
import type { AppliedMigration } from './applied-migrations.ts';
import { type SchemaMigration, migrationsTable } from './schema-migration.ts';

/** The digest of the statements of a migration, whatever their comments and white space. */
const checksumOf = ({ statements }: SchemaMigration): string => {
  const texts = statements.map((text) => text.replace(/--.*$/gm, '').replace(/\s+/g, ' ').trim());
  return createHash('sha256').update(JSON.stringify(texts)).digest('hex');
};

/** Throws for a migration that was changed after it was applied: the database lacks the change. */
export const requireUnchanged = (
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

/** Stores the checksums of applied migrations that have none: new ones, and those that a version without checksums applied. */
export const storeMissingChecksums = async (
  client: Pick<Client, 'query'>,
  migrations: readonly SchemaMigration[],
): Promise<void> => {
  await client.query(`alter table ${migrationsTable} add column if not exists checksum text`);
  await client.query(
    `update ${migrationsTable} applied set checksum = known.checksum
     from unnest($1::text[], $2::text[]) as known (name, checksum)
     where applied.name = known.name and applied.checksum is null`,
    [migrations.map(({ name }) => name), migrations.map(checksumOf)],
  );
};
