export {
  type CommitLimits,
  type Database,
  type DatabaseOptions,
  migrateDatabase,
  openDatabase,
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
export { createDatabaseIfMissing, NewerDatabaseError, type SchemaMigration } from './migrate.ts';
export { type BatchRow, batchedRead } from './batched-read.ts';
export { schemaDifferences } from './schema-differences.ts';
