import type { SchemaMigration } from '@bunting/database';
import { idempotencyTables, consumerTables, outboxTables } from '@bunting/outbox';
import { initial } from '../../migrations/migrations.ts';

/** The whole schema of the database, in the order of its steps. */
export const changeRequestMigrations: readonly SchemaMigration[] = [
  initial,
  outboxTables,
  consumerTables,
  idempotencyTables,
];
