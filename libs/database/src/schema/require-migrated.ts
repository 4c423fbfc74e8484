import { openSingleConnection } from '../connection/open-single-connection.ts';
import { hostAndPortOf, databaseOf } from '../connection/postgres-url.ts';
import { appliedMigrations, migrationNames } from './applied-migrations.ts';
import { missingDatabase } from './create-database-if-missing.ts';
import { requireUnchanged } from './migration-checksums.ts';
import type { SchemaMigration } from './schema-migration.ts';
import { schemaVersion } from './schema-version.ts';

/** Throws when the database is missing, or when a process with these migrations cannot run on its schema. It changes nothing. */
export const requireMigrated = async (
  url: string,
  migrations: readonly SchemaMigration[],
  lostAfterMs: number,
): Promise<void> => {
  const database = databaseOf(url);
  const client = await openSingleConnection(url, lostAfterMs).catch((error: unknown) => {
    if ((error as { code?: string }).code !== missingDatabase) throw error;
    throw new Error(`There is no database ${database} at ${hostAndPortOf(url)}.`, { cause: error });
  });
  try {
    const applied = await appliedMigrations(client);
    schemaVersion(url, migrationNames(applied), migrations);
    requireUnchanged(applied, database, migrations);
  } finally {
    await client.end();
  }
};
