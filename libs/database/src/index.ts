export {
  type CommitLimits,
  type Database,
  type DatabaseOptions,
  openDatabase,
  type Session,
  type Statement,
  type Tx,
} from './database.ts';
export { type Entity, type EntitySql, entitySql, Moment, TextArray, momentSql, persistDifference } from './entities.ts';
export { brokenConstraint, isDataFailure } from './failures.ts';
export { createDatabaseIfMissing, NewerDatabaseError, type SchemaStep } from './migrate.ts';
export { type Nth, batchedRead } from './batched-read.ts';
export { schemaDifferences } from './schema-differences.ts';
