import { type ReadDatabase, type Statement, timestampSql } from '@bunting/database';
import { missingLogHeadError } from './missing-log-head-error.ts';

/** The number of events and the disk space of the log. */
export interface LogSize {
  readonly events: number;
  readonly firstId: number | null;
  readonly lastId: number | null;
  readonly oldest: string | null;
  readonly newest: string | null;
  readonly bytes: { readonly log: number; readonly search: number; readonly total: number };
  readonly partitions: readonly { readonly name: string; readonly bytes: number }[];
}

/** SQL: the disk space of the tables that a set-returning function lists by `relid`. */
const bytesOf = (tables: string): string =>
  `(select coalesce(sum(pg_total_relation_size(relid)), 0)::bigint from ${tables} as part)`;

const selectSize: Statement = {
  name: 'log-size',
  text: `
    select head.events, first.id as "firstId", last.id as "lastId",
      ${timestampSql('first.created_at')} as oldest, ${timestampSql('last.created_at')} as newest,
      json_build_object('log', ${bytesOf("pg_partition_tree('event')")}, 'search', ${bytesOf("pg_partition_tree('event_search')")},
        'total', pg_database_size(current_database())) as bytes,
      (select coalesce(json_agg(json_build_object('name', relid::text, 'bytes', pg_total_relation_size(relid)) order by relid::text), '[]')
       from pg_partition_tree('event') where isleaf) as partitions
    from event_log_head as head
    left join lateral (select id, created_at from event order by id limit 1) as first on true
    left join lateral (select id, created_at from event order by id desc limit 1) as last on true`,
};

export const logSize = async (database: ReadDatabase): Promise<LogSize> => {
  const [found] = await database.read<LogSize>(selectSize);
  if (found === undefined) throw missingLogHeadError();
  return found;
};
