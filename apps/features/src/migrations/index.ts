import type { SchemaMigration } from '@bunting/database';
import { idempotencyTables, outboxOfChanges, outboxReservation, outboxTables } from '@bunting/outbox';
import { initial } from './1-initial.ts';
import { usageHistory } from './2-expand-usage-history.ts';
import { environmentColor } from './3-expand-environment-color.ts';
import { segmentLists } from './4-expand-segment-lists.ts';
import { stagedSegmentLists } from './5-expand-staged-segment-lists.ts';
import { deferredStates } from './6-expand-deferred-states.ts';
import { removedEnvironments } from './7-expand-removed-environments.ts';
import { deferredEdits } from './8-expand-deferred-edits.ts';

/** The schema of the database as ordered migrations. `1-initial` writes to the outbox, so it comes after the outbox's tables. */
export const featuresMigrations: readonly SchemaMigration[] = [
  outboxTables,
  idempotencyTables,
  initial,
  usageHistory,
  environmentColor,
  segmentLists,
  stagedSegmentLists,
  outboxReservation,
  outboxOfChanges,
  deferredStates,
  removedEnvironments,
  deferredEdits,
];
