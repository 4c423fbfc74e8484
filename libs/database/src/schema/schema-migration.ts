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
