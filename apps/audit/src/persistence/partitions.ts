import type { SchemaStep, Tx } from '@bunting/database';

/** So many ids make a partition. */
export const partitionLength = 1_048_576;

const withNextPartition = (table: string): string => `
    alter table ${table} rename to ${table}_p0;
    alter index ${table}_pkey rename to ${table}_p0_pkey;
    create table ${table} (like ${table}_p0 including defaults) partition by range (id);
    alter table ${table} add primary key (id);
    execute format('alter table ${table} attach partition ${table}_p0 for values from (minvalue) to (%s)', top);`;

/**
 * Splits the log by ranges of ids, so that what is old is dropped at once, however much it is. What is there becomes the first
 * partition as it is: nothing is copied, and who reads waits for moments. It ends far enough beyond the last event for processes
 * of the version before, which make no partitions.
 */
export const partitionedLog: SchemaStep = {
  name: '2026-11-23-partitioned-log',
  statements: [
    'alter table event_log_head add column partitioned_to bigint not null default 0',
    `do $$
    declare top bigint;
    begin
      select (id / ${partitionLength} + 2) * ${partitionLength} into top from event_log_head for update;
      ${withNextPartition('event')}
      ${withNextPartition('event_search')}
      update event_log_head set partitioned_to = top;
    end $$`,
    // An event is known by its uid within each partition; who appends looks into all of them.
    'alter index event_by_uid rename to event_p0_by_uid',
    ...['type', 'project', 'project_and_type', 'feature', 'text'].map(
      (what) => `alter index event_search_by_${what} rename to event_search_p0_by_${what}`,
    ),
    // Each takes the index of the first partition for its own part.
    'create index event_search_by_type on event_search (type, id)',
    'create index event_search_by_project on event_search (project, id)',
    'create index event_search_by_project_and_type on event_search (project, type, id)',
    'create index event_search_by_feature on event_search (feature_name, id) include (type, project)',
    'create index event_search_by_text on event_search using gin (text gin_trgm_ops) with (gin_pending_list_limit = 1024)',
  ],
};

/** Makes the partitions for ids up to `id`, while the end of the log is locked. Those who read are not held up. */
export const ensurePartitions = async ({ query }: Tx, partitionedTo: number, id: number): Promise<void> => {
  for (let from = partitionedTo; from <= id; from += partitionLength) {
    const to = from + partitionLength;
    for (const table of ['event', 'event_search']) {
      const name = `${table}_p${from / partitionLength}`;
      await query(`create table ${name} (like ${table} including defaults including indexes)`);
      if (table === 'event') await query(`create unique index ${name}_by_uid on ${name} (uid)`);
      await query(`alter table ${table} attach partition ${name} for values from (${from}) to (${to})`);
    }
    await query('update event_log_head set partitioned_to = $1', [to]);
  }
};
