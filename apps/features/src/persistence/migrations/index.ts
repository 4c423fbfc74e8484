import type { SchemaMigration } from '@bunting/database';
import { idempotencyTables, outboxTables } from '@bunting/outbox';
import { initial } from './1-initial.ts';

/** The whole schema of the database, in the order of its steps. `1-initial` writes to the outbox. */
export const steps: readonly SchemaMigration[] = [outboxTables, idempotencyTables, initial];
