import type { SchemaStep } from '@bunting/database';
import { idempotencyTables, inboxTables, outboxTables } from '@bunting/outbox';
import { initial } from './1-initial.ts';

/** The whole schema of the database, in the order of its steps. */
export const gatewaySteps: readonly SchemaStep[] = [initial, outboxTables, inboxTables, idempotencyTables];
