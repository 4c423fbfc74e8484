export type { CommitLimits, Tx } from './connection/transaction.ts';
export {
  type Database,
  type DatabaseOptions,
  migrateDatabase,
  openDatabase,
  type ReadDatabase,
  type PinnedConnection,
  type Statement,
} from './database.ts';
export { type Entity, entitySql } from './schema/entity-sql.ts';
export { persistDifference } from './persist-difference.ts';
export { TimestampColumn, TextArray, timestampSql } from './schema/column-types.ts';
export { violatedConstraint, isDataError, refusalForFailure } from './failures/database-failures.ts';
export { createDatabaseIfMissing, migrateEmptyDatabase } from './schema/migrate.ts';
export {
  migrationsTable,
  NewerDatabaseError,
  type SchemaMigration,
  type SchemaVersion,
} from './schema/schema-version.ts';
export { hostAndPortOf } from './connection/postgres-url.ts';
export { shareNextRun } from './reads/share-next-run.ts';
export { inspectReadReplica, openReadReplica, type ReadReplica } from './reads/read-replica.ts';
export { batchedRead } from './reads/batched-read.ts';
export { advisoryLock } from './connection/advisory-lock.ts';
export { escapeLike } from './escape-like.ts';
export { onlyRow } from './only-row.ts';
export { missingMigrationStatements } from './schema/missing-migration-statements.ts';
