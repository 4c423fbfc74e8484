import type { DeliveryState } from '@bunting/contracts';

/** Executes one statement in the transaction of the caller. */
type Execute = (text: string, values: readonly unknown[]) => Promise<unknown>;

/** More than one PostgreSQL was ever measured to write. */
const maxRevisionsPerSecond = 1_000;
const minSkipped = 1_000_000;

const numberRows = "select outbox_head('delivery')";
const append = `
  with head as (
    update outbox_topic set position = position + $1::bigint where topic = 'delivery' returning position
  )
  insert into outbox (topic, position, type, entity_key, payload)
  select 'delivery', position, 'history', 'history:restored', $2::json from head`;

/**
 * Skips revisions in a features database that was restored from a backup, in the transaction of the caller. The next one is later than any that
 * SDKs can have got since the backup, so none is assigned twice, and SDKs with an earlier one get everything.
 */
export const skipRevisionsAfterRestore = async (execute: Execute, backupAt: Date, now: Date): Promise<void> => {
  const seconds = Math.max(0, (now.getTime() - backupAt.getTime()) / 1_000);
  const skipped = minSkipped + Math.ceil(seconds * maxRevisionsPerSecond);
  const row: DeliveryState = { entity: 'history', id: 'restored', state: { restoredAt: now.toISOString() } };
  await execute(numberRows, []);
  await execute(append, [skipped, JSON.stringify(row)]);
};
