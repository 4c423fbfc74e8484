import { hostAndPortOf, databaseOf } from '../connection/postgres-url.ts';
import type { SchemaMigration } from './schema-migration.ts';

/** The database was migrated by a newer version of Bunting. */
export class NewerDatabaseError extends Error {}

/** Whether versions without the migration run on the schema after it. */
const isExpansion = (name: string): boolean => /^\d+-expand-/.test(name);

/** The applied migrations of newer versions. @throws NewerDatabaseError unless all of them expand the schema */
export const requireExpansions = (
  applied: readonly string[],
  database: string,
  migrations: readonly SchemaMigration[],
): readonly string[] => {
  const newer = applied.filter((name) => !migrations.some((step) => step.name === name));
  const unsupported = newer.filter((name) => !isExpansion(name));
  if (unsupported.length === 0) return newer;
  throw new NewerDatabaseError(
    `The database ${database} was written by a newer version of Bunting (it has the migration "${unsupported.at(-1)}", which this version does not know). ` +
      'Start that version, or restore a backup from before the upgrade.',
  );
};

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
  const newer = requireExpansions(applied, database, migrations);
  const missing = migrations.find(({ name }) => !applied.includes(name));
  if (missing === undefined) return { needs: migrations.length, has: applied.length, newer };
  throw new Error(
    applied.length === 0
      ? `The database ${database} at ${hostAndPortOf(url)} holds nothing of Bunting.`
      : `The database ${database} was left by an older version of Bunting (it lacks the migration "${missing.name}"): start this version on it first.`,
  );
};
