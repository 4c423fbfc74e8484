import { createHash } from 'node:crypto';
import type { Client } from 'pg';
import { databaseOf, hostAndPortOf } from './connection.ts';
import { onlyRow } from './sql.ts';

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

/** The database was migrated by a newer version of Bunting. */
export class NewerDatabaseError extends Error {}

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
export function schemaVersion(
  url: string,
  applied: readonly string[],
  migrations: readonly SchemaMigration[],
): SchemaVersion {
  const database = databaseOf(url);
  const newer = requireExpansions(applied, database, migrations);
  const missing = migrations.find(({ name }) => !applied.includes(name));
  if (missing === undefined) return { needs: migrations.length, has: applied.length, newer };
  throw new Error(
    applied.length === 0
      ? `The database ${database} at ${hostAndPortOf(url)} holds nothing of Bunting.`
      : `The database ${database} was left by an older version of Bunting (it lacks the migration "${missing.name}"): start this version on it first.`,
  );
}

/** The applied migrations of newer versions. @throws NewerDatabaseError unless all of them expand the schema */
export function requireExpansions(
  applied: readonly string[],
  database: string,
  migrations: readonly SchemaMigration[],
): readonly string[] {
  const newer = applied.filter((name) => !migrations.some((step) => step.name === name));
  // Versions without a migration run on the schema that it has expanded.
  const unsupported = newer.filter((name) => !/^\d+-expand-/.test(name));
  if (unsupported.length === 0) return newer;
  throw new NewerDatabaseError(
    `The database ${database} was written by a newer version of Bunting (it has the migration "${unsupported.at(-1)}", which this version does not know). ` +
      'Start that version, or restore a backup from before the upgrade.',
  );
}

export interface AppliedMigration {
  readonly name: string;
  /** null if a version before the first release applied it, which stored none */
  readonly checksum: string | null;
}

export function migrationNames(applied: readonly AppliedMigration[]): readonly string[] {
  return applied.map(({ name }) => name);
}

/** The migrations that are applied to the database, by name. */
export async function appliedMigrations(client: Client): Promise<readonly AppliedMigration[]> {
  const { rows } = await client.query<{ exists: boolean }>('select to_regclass($1) is not null as exists', [
    migrationsTable,
  ]);
  if (!onlyRow(rows).exists) return [];
  // The row is read as JSON, because versions before the first release created the table without the column for checksums.
  const applied = await client.query<AppliedMigration>(
    `select name, to_jsonb(${migrationsTable}) ->> 'checksum' as checksum from ${migrationsTable} order by name`,
  );
  return applied.rows;
}

/** The digest of the statements of a migration, whatever their comments and white space. */
export function checksumOf({ statements }: SchemaMigration): string {
  const texts = statements.map((text) => text.replace(/--.*$/gm, '').replace(/\s+/g, ' ').trim());
  return createHash('sha256').update(JSON.stringify(texts)).digest('hex');
}

/** Throws for a migration that was, or may have been, changed after it was applied: the database lacks the change. */
export function requireUnchanged(
  applied: readonly AppliedMigration[],
  database: string,
  migrations: readonly SchemaMigration[],
): void {
  const checksums = new Map(applied.map(({ name, checksum }) => [name, checksum]));
  // What such a version has applied is not known: migrations of the same names have changed since.
  if ([...checksums.values()].includes(null))
    throw new Error(
      `The database ${database} was written by a version of Bunting before its first release, whose tables this version does not read. ` +
        'Start that version, and move its flags into an empty database of this one by npm run import -- --from URL.',
    );
  const changed = migrations.find((step) => (checksums.get(step.name) ?? checksumOf(step)) !== checksumOf(step));
  if (changed === undefined) return;
  throw new Error(
    `The migration "${changed.name}" was changed after it had been applied to the database ${database}, which lacks the change. ` +
      'Start the version that applied it, or undo the change and add a migration with it. A database without data of value can be dropped instead.',
  );
}
