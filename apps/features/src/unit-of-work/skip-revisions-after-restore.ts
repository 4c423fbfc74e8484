import type { DeliveryState } from '@bunting/contracts';

/** Executes one statement in the transaction of the caller. */
type Execute = (text: string, values: readonly unknown[]) => Promise<unknown>;

/** More revisions than PostgreSQL has been measured to write in a second. */
const maxRevisionsPerSecond = 1_000;
const minSkipped = 1_000_000;

/** Assigns revisions to the committed rows that have none yet. */
const assignRevisions = "select outbox_head('delivery')";
/** Skips `$1` revisions, and adds the row `$2`, which tells consumers of the restore. */
const skipRevisions = `
  with head as (
    update outbox_topic set position = position + $1::bigint where topic = 'delivery' returning position
  )
  insert into outbox (topic, position, type, entity_key, payload)
  select 'delivery', position, 'history', 'history:restored', $2::json from head`;

/**
 * Skips revisions in a features database that was restored from a backup, in the transaction of the caller. The next revision is higher
 * than any that SDKs can have received since the backup, so none is assigned twice, and SDKs with a lower one receive the complete state.
 */
export const skipRevisionsAfterRestore = async (execute: Execute, backupAt: Date, now: Date): Promise<void> => {
  const seconds = Math.max(0, (now.getTime() - backupAt.getTime()) / 1_000);
  const skipped = minSkipped + Math.ceil(seconds * maxRevisionsPerSecond);
  const row: DeliveryState = { entity: 'history', id: 'restored', state: { restoredAt: now.toISOString() } };
  await execute(assignRevisions, []);
  await execute(skipRevisions, [skipped, JSON.stringify(row)]);
};
