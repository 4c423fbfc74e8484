import type { Tx } from '@bunting/database';

/** The number of ids in the range of a partition. */
export const partitionLength = 1_048_576;

/** SQL: the statements that create a partition of both tables of the log. @param nth the number of the partition, from 0 */
export const createPartitionSql = (nth: number): readonly string[] =>
  ['event', 'event_search'].flatMap((table) => [
    `create table ${table}_p${nth} (like ${table} including defaults including indexes)`,
    ...(table === 'event' ? [`create unique index event_p${nth}_by_uid on event_p${nth} (uid)`] : []),
    `alter table ${table} attach partition ${table}_p${nth}
     for values from (${nth * partitionLength}) to (${(nth + 1) * partitionLength})`,
  ]);

/** Creates the missing partitions for ids up to `id`. The caller has locked the head of the log. Readers are not blocked. */
export const ensurePartitions = async ({ query }: Tx, partitionedTo: number, id: number): Promise<void> => {
  for (let from = partitionedTo; from <= id; from += partitionLength) {
    for (const statement of createPartitionSql(from / partitionLength)) await query(statement);
    await query('update event_log_head set partitioned_to = $1', [from + partitionLength]);
  }
};
