import { type Database, onlyRow, type Tx } from '@bunting/database';
import { missingLogHeadError } from '../persistence/log/missing-log-head-error.ts';

/** The ids in the log: after `droppedId`, up to `id`. */
interface RetainedRange {
  readonly droppedId: number;
  readonly id: number;
}

const batchSize = 5_000;

/** Records that the events from `$1` to `$2` are dropped. */
const recordDroppedSql = `
  update event_log_head set
    events = events - (select count(*) from event where id between $1 and $2),
    dropped_id = $2, dropped_hash = (select hash from event where id = $2)`;

/** The oldest partition and the last id of its range. */
const oldestPartition = async ({ query }: Tx): Promise<{ name: string; last: number } | undefined> => {
  const [found] = await query<{ name: string; bounds: string }>(
    `select child.relname as name, pg_get_expr(child.relpartbound, child.oid) as bounds
     from pg_inherits join pg_class as child on child.oid = inhrelid
     where inhparent = 'event'::regclass order by substring(child.relname from '[0-9]+$')::bigint limit 1`,
  );
  const to = /TO \('?(\d+)'?\)/.exec(found?.bounds ?? '')?.[1];
  return found === undefined || to === undefined ? undefined : { name: found.name, last: Number(to) - 1 };
};

/** Drops the oldest partition if all its events have expired. */
const dropExpiredPartition = async (tx: Tx, { droppedId, id }: RetainedRange, before: Date): Promise<number> => {
  const { query } = tx;
  const partition = await oldestPartition(tx);
  if (partition === undefined || partition.last > id) return 0;
  const [unexpired] = await query(`select 1 from ${partition.name} where created_at >= $1 limit 1`, [before]);
  if (unexpired !== undefined) return 0;
  if (partition.last > droppedId) await query(recordDroppedSql, [droppedId + 1, partition.last]);
  for (const name of [partition.name, partition.name.replace('event_p', 'event_search_p')]) {
    await query(`drop table ${name}`);
  }
  return Math.max(1, partition.last - droppedId);
};

/** Deletes one batch of the oldest events, up to the first that has not expired. */
const deleteExpiredRows = async ({ query }: Tx, { droppedId, id }: RetainedRange, before: Date): Promise<number> => {
  const text = `
    select max(id) as last from (
      select id, bool_and(created_at < $2) over (order by id) as old from (
        select id, created_at from event where id > $1 and id <= $3 order by id limit ${batchSize}) as oldest
    ) as examined where old`;
  const { last } = onlyRow(await query<{ last: number | null }>(text, [droppedId, before, id]));
  if (last === null) return 0;
  await query(recordDroppedSql, [droppedId + 1, last]);
  await query('delete from event where id <= $1', [last]);
  await query('delete from event_search where id <= $1', [last]);
  return last - droppedId;
};

/**
 * Drops expired events, from the oldest up to the first that has not expired: a whole partition, or a bounded number of rows. The hash
 * of the last dropped event is stored, from which the chain continues.
 * @returns the number of dropped events
 */
export const dropOldestExpiredBatch = (database: Database, before: Date): Promise<number> =>
  database.transaction(async (tx) => {
    // A long read must not make later queries queue behind this lock.
    await tx.query("set local lock_timeout = '2s'");
    const [retained] = await tx.query<RetainedRange>(
      'select dropped_id as "droppedId", id from event_log_head for update',
    );
    if (retained === undefined) throw missingLogHeadError();
    return (await dropExpiredPartition(tx, retained, before)) || deleteExpiredRows(tx, retained, before);
  });
