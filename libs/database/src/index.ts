export {
  type CommitLimits,
  type Database,
  type DatabaseOptions,
  migrateDatabase,
  openDatabase,
  type ReadDatabase,
  type Session,
  type Statement,
  type Tx,
} from './database.ts';
export {
  type Entity,
  type EntitySql,
  entitySql,
  Timestamp,
  TextArray,
  timestampSql,
  persistDifference,
} from './entities.ts';
export { violatedConstraint, isDataError } from './failures.ts';
export {
  createDatabaseIfMissing,
  createSchema,
  hostOf,
  migrationsTable,
  NewerDatabaseError,
  type SchemaMigration,
  type SchemaVersion,
} from './migrate.ts';
export { coalesceCalls } from './coalesce-calls.ts';
export { inspectReadReplica, openReadReplica, type ReadReplica } from './read-replica.ts';
export { type BatchRow, batchedRead } from './batched-read.ts';
export { schemaDifferences } from './schema-differences.ts';
