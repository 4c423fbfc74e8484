import type { Tx } from '@bunting/database';

/** So many ids make a partition. */
export const partitionLength = 1_048_576;

/** The statements that create a partition of both tables of the log, the first one being 0. */
export const createPartition = (nth: number): readonly string[] =>
  ['event', 'event_search'].flatMap((table) => [
    `create table ${table}_p${nth} (like ${table} including defaults including indexes)`,
    ...(table === 'event' ? [`create unique index event_p${nth}_by_uid on event_p${nth} (uid)`] : []),
    `alter table ${table} attach partition ${table}_p${nth}
     for values from (${nth * partitionLength}) to (${(nth + 1) * partitionLength})`,
  ]);

/** Creates the partitions for ids up to `id`, while the end of the log is locked. Readers are not blocked. */
export const ensurePartitions = async ({ query }: Tx, partitionedTo: number, id: number): Promise<void> => {
  for (let from = partitionedTo; from <= id; from += partitionLength) {
    for (const statement of createPartition(from / partitionLength)) await query(statement);
    await query('update event_log_head set partitioned_to = $1', [from + partitionLength]);
  }
};
