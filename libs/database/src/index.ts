export { hostAndPortOf } from './connection.ts';
export {
  type Database,
  type DatabaseOptions,
  type Entity,
  migrateDatabase,
  openDatabase,
  type PinnedConnection,
  type ReadDatabase,
  type Statement,
} from './database.ts';
export { isDataError, refusalForFailure, violatedConstraint } from './failures.ts';
export { createDatabaseIfMissing, migrateEmptyDatabase } from './migrate.ts';
export { inspectReadReplica, openReadReplica, type ReadReplica } from './read-replica.ts';
export { migrationsTable, NewerDatabaseError, type SchemaMigration, type SchemaVersion } from './schema-version.ts';
export { batchedRead, shareNextRun } from './shared-reads.ts';
export { advisoryLock, escapeLike, isOverSql, onlyRow, prepared, timestampSql } from './sql.ts';
export { type CommitLimits, LazyTx, type Tx } from './transaction.ts';
