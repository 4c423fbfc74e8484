import { type Database, onlyRow, prepared, type ReadDatabase, timestampSql, type Tx } from '@bunting/database';
import { missingLogHeadError } from './append-store.ts';

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
async function oldestPartition({ query }: Tx): Promise<{ name: string; last: number } | undefined> {
  const [found] = await query<{ name: string; bounds: string }>(
    `select child.relname as name, pg_get_expr(child.relpartbound, child.oid) as bounds
     from pg_inherits join pg_class as child on child.oid = inhrelid
     where inhparent = 'event'::regclass order by substring(child.relname from '[0-9]+$')::bigint limit 1`,
  );
  const to = /TO \('?(\d+)'?\)/.exec(found?.bounds ?? '')?.[1];
  return found === undefined || to === undefined ? undefined : { name: found.name, last: Number(to) - 1 };
}

/** Drops the oldest partition if all its events have expired. */
async function dropExpiredPartition(tx: Tx, { droppedId, id }: RetainedRange, before: Date): Promise<number> {
  const { query } = tx;
  const partition = await oldestPartition(tx);
  if (partition === undefined || partition.last > id) return 0;
  const [unexpired] = await query(`select 1 from ${partition.name} where created_at >= $1 limit 1`, [before]);
  if (unexpired !== undefined) return 0;
  if (partition.last > droppedId) await query(recordDroppedSql, [droppedId + 1, partition.last]);
  for (const table of ['event_p', 'event_search_p', 'event_text_p'])
    await query(`drop table if exists ${partition.name.replace('event_p', table)}`);
  return Math.max(1, partition.last - droppedId);
}

/** Deletes the search rows up to `$1`, and the texts that no later event has. */
const deleteSearchRows = `
  with deleted as (
    delete from event_search where id <= $1 returning creator_text, constant_text, varying_text
  ), texts as (
    select distinct text.id from deleted cross join unnest(array[creator_text, constant_text, varying_text]) as text (id)
  )
  delete from event_text using texts where event_text.id = texts.id
    and not exists (select 1 from event_search where creator_text = texts.id and id > $1)
    and not exists (select 1 from event_search where constant_text = texts.id and id > $1)
    and not exists (select 1 from event_search where varying_text = texts.id and id > $1)`;

/** Deletes one batch of the oldest events, up to the first that has not expired. */
async function deleteExpiredRows({ query }: Tx, { droppedId, id }: RetainedRange, before: Date): Promise<number> {
  const text = `
    select max(id) as last from (
      select id, bool_and(created_at < $2) over (order by id) as old from (
        select id, created_at from event where id > $1 and id <= $3 order by id limit ${batchSize}) as oldest
    ) as examined where old`;
  const { last } = onlyRow(await query<{ last: number | null }>(text, [droppedId, before, id]));
  if (last === null) return 0;
  await query(recordDroppedSql, [droppedId + 1, last]);
  await query('delete from event where id <= $1', [last]);
  await query(deleteSearchRows, [last]);
  return last - droppedId;
}

/**
 * Drops expired events, from the oldest up to the first that has not expired: a whole partition, or a bounded number of rows. The hash
 * of the last dropped event is stored, from which the chain continues.
 * @returns the number of dropped events
 */
export function dropOldestExpiredBatch(database: Database, before: Date): Promise<number> {
  return database.transaction(async (tx) => {
    // A long read must not make later queries queue behind this lock.
    await tx.query("set local lock_timeout = '2s'");
    const [retained] = await tx.query<RetainedRange>(
      'select dropped_id as "droppedId", id from event_log_head for update',
    );
    if (retained === undefined) throw missingLogHeadError();
    return (await dropExpiredPartition(tx, retained, before)) || deleteExpiredRows(tx, retained, before);
  });
}

/** The number of ids in the range of a partition. */
export const partitionLength = 1_048_576;

/** SQL: the statements that create a partition of both tables of the log. @param nth the number of the partition, from 0 */
export function createPartitionSql(nth: number): readonly string[] {
  return ['event', 'event_search'].flatMap((table) => [
    `create table ${table}_p${nth} (like ${table} including defaults including indexes)`,
    ...(table === 'event' ? [`create unique index event_p${nth}_by_uid on event_p${nth} (uid)`] : []),
    `alter table ${table} attach partition ${table}_p${nth}
     for values from (${nth * partitionLength}) to (${(nth + 1) * partitionLength})`,
  ]);
}

/** SQL: the statements that create a partition of the texts of events. @param nth the number of the partition, from 0 */
export function createTextPartitionSql(nth: number): readonly string[] {
  return [
    `create table event_text_p${nth} (like event_text including defaults including indexes)`,
    `create unique index event_text_p${nth}_by_digest on event_text_p${nth} (digest)`,
    `alter table event_text attach partition event_text_p${nth}
     for values from (${nth * partitionLength}) to (${(nth + 1) * partitionLength})`,
  ];
}

/** The first ids for which the log has no partitions yet. */
interface PartitionedTo {
  readonly partitionedTo: number;
  readonly textsPartitionedTo: number;
}

/** Creates the missing partitions for ids up to `id`. The caller has locked the head of the log. Readers are not blocked. */
export async function ensurePartitions(
  { query }: Tx,
  { partitionedTo, textsPartitionedTo }: PartitionedTo,
  id: number,
): Promise<void> {
  const create = async (column: string, first: number, sqlOf: (nth: number) => readonly string[]): Promise<void> => {
    for (let from = first; from <= id; from += partitionLength) {
      for (const statement of sqlOf(from / partitionLength)) await query(statement);
      await query(`update event_log_head set ${column} = $1`, [from + partitionLength]);
    }
  };
  await create('partitioned_to', partitionedTo, createPartitionSql);
  await create('texts_partitioned_to', textsPartitionedTo, createTextPartitionSql);
}

/** The number of events and the disk space of the log. */
export interface LogSize {
  readonly events: number;
  readonly firstId: number | null;
  readonly lastId: number | null;
  readonly oldest: string | null;
  readonly newest: string | null;
  /** events whose texts wait to be indexed */
  readonly unindexed: number;
  readonly bytes: { readonly log: number; readonly search: number; readonly total: number };
  readonly partitions: readonly { readonly name: string; readonly bytes: number }[];
}

/** SQL: the disk space of the tables that a set-returning function lists by `relid`. */
function bytesOf(tables: string): string {
  return `(select coalesce(sum(pg_total_relation_size(relid)), 0)::bigint from ${tables} as part)`;
}

const selectSize = prepared(`
  select head.events, first.id as "firstId", last.id as "lastId",
    ${timestampSql('first.created_at')} as oldest, ${timestampSql('last.created_at')} as newest,
    (select count(*) from event_search where text <> '') as unindexed,
    json_build_object('log', ${bytesOf("pg_partition_tree('event')")}, 'search', 
      ${bytesOf("pg_partition_tree('event_search')")} + ${bytesOf("pg_partition_tree('event_text')")},
      'total', pg_database_size(current_database())) as bytes,
    (select coalesce(json_agg(json_build_object('name', relid::text, 'bytes', pg_total_relation_size(relid)) order by relid::text), '[]')
     from pg_partition_tree('event') where isleaf) as partitions
  from event_log_head as head
  left join lateral (select id, created_at from event order by id limit 1) as first on true
  left join lateral (select id, created_at from event order by id desc limit 1) as last on true`);

export async function logSize(database: ReadDatabase): Promise<LogSize> {
  const [found] = await database.read<LogSize>(selectSize);
  if (found === undefined) throw missingLogHeadError();
  return found;
}
