export type { CommitLimits, Tx } from './connection/transaction.ts';
export {
  type Database,
  type DatabaseOptions,
  migrateDatabase,
  openDatabase,
  type ReadDatabase,
  type Session,
  type Statement,
} from './database.ts';
export {
  type Entity,
  type EntitySql,
  entitySql,
  Timestamp,
  TextArray,
  timestampSql,
  persistDifference,
} from './schema/entities.ts';
export { violatedConstraint, isDataError, refusalForFailure } from './failures/failures.ts';
export {
  createDatabaseIfMissing,
  createSchema,
  hostOf,
  migrationsTable,
  NewerDatabaseError,
  type SchemaMigration,
  type SchemaVersion,
} from './schema/migrate.ts';
export { coalesceCalls } from './reads/coalesce-calls.ts';
export { inspectReadReplica, openReadReplica, type ReadReplica } from './reads/read-replica.ts';
export { type BatchRow, batchedRead } from './reads/batched-read.ts';
export { advisoryLock } from './connection/advisory-lock.ts';
export { escapeLike } from './escape-like.ts';
export { onlyRow } from './only-row.ts';
export { schemaDifferences } from './schema/schema-differences.ts';
