import { type Client } from 'pg';
import { onlyRow } from '../only-row.ts';
import { migrationsTable } from './schema-migration.ts';

export interface AppliedMigration {
  readonly name: string;
  /** null if a version without checksums applied it */
  readonly checksum: string | null;
}

/** The names of applied migrations. */
export const migrationNames = (applied: readonly AppliedMigration[]): readonly string[] =>
  applied.map(({ name }) => name);

/** The migrations that are applied to the database, by name. */
export const appliedMigrations = async (client: Client): Promise<readonly AppliedMigration[]> => {
  const { rows } = await client.query<{ exists: boolean }>('select to_regclass($1) is not null as exists', [
    migrationsTable,
  ]);
  if (!onlyRow(rows).exists) return [];
  // The row is read as JSON, because older versions created the table without the column for checksums.
  const applied = await client.query<AppliedMigration>(
    `select name, to_jsonb(${migrationsTable}) ->> 'checksum' as checksum from ${migrationsTable} order by name`,
  );
  return applied.rows;
};
