import type { SchemaMigration } from '@bunting/database';
import { consumerTables } from '@bunting/outbox';
import { createPartitionSql, createTextPartitionSql, partitionLength } from '../log/retention-store.ts';

/**
 * `event` is the log. `event_search` has the columns that searches filter by: its rows are small, so scans are fast, and derived from `event`
 * alone. Both are partitioned by ranges of ids (see `createPartitionSql`), so an event's uid is unique per partition.
 *
 * `event_log_head` is the end of the log: an appender holds its row until the commit, so ids become visible in order. Events up to
 * `dropped_id` have been pruned by age; the chain of hashes continues from `dropped_hash`.
 *
 * The b-trees of `event_search` do not have the id: PostgreSQL stores equal keys once, so that each takes seven bytes an event,
 * and combines several by bitmaps. A search by type alone skips through the index that begins with the project.
 */
const eventLog: SchemaMigration = {
  name: '1-event-log',
  statements: [
    'create extension if not exists pg_trgm',
    `create table event_log_head (
      singleton boolean primary key default true check (singleton),
      id bigint not null default 0,
      uid uuid,
      hash bytea not null default decode(repeat('00', 32), 'hex'),
      events bigint not null default 0,
      dropped_id bigint not null default 0,
      dropped_hash bytea not null default decode(repeat('00', 32), 'hex'),
      partitioned_to bigint not null default ${partitionLength}
    )`,
    'insert into event_log_head default values',
    `create table event (
      id bigint primary key with (fillfactor = 100),
      uid uuid not null,
      type text collate "C" not null,
      created_at timestamptz not null,
      created_by text not null,
      created_by_user_id bigint,
      project text collate "C",
      environment text collate "C",
      feature_name text collate "C",
      data json,
      pre_data json,
      tags json not null,
      group_type text,
      group_id text collate "C",
      hash bytea not null
    ) partition by range (id)`,
    `create table event_search (
      id bigint primary key with (fillfactor = 100),
      created_by_user_id bigint,
      day date not null,
      type text collate "C" not null,
      project text collate "C",
      environment text collate "C",
      feature_name text collate "C",
      text text not null
    ) partition by range (id)`,
    'create index event_by_group on event (group_id) where group_id is not null',
    'create index event_search_by_project_and_type on event_search (project, type)',
    ...['created_by_user_id', 'day', 'environment', 'feature_name'].map(
      (column) => `create index event_search_by_${column} on event_search (${column})`,
    ),
    `create index event_search_by_text on event_search using gin (text gin_trgm_ops) with (gin_pending_list_limit = 8192)`,
    ...createPartitionSql(0),
    `create table event_creator (
      project text collate "C",
      id bigint not null,
      name text not null,
      last_event bigint not null,
      unique nulls not distinct (project, id)
    ) with (fillfactor = 50)`,
    `create table project_activity (
      project text collate "C" not null,
      day date not null,
      events bigint not null,
      last_at timestamptz not null,
      primary key (project, day)
    ) with (fillfactor = 50)`,
  ],
};

/**
 * `event_text` has each distinct text of the events of a partition once; rows of `event_search` refer to theirs: who caused the event, what
 * it has in common with others, and what varies. Rows of the version before have their whole text in `text` instead, until the background
 * task has indexed them, and its trigram index is dropped then.
 */
const eventTexts: SchemaMigration = {
  name: '2-expand-event-texts',
  statements: [
    `create table event_text (
      id bigint not null,
      event bigint not null,
      part smallint not null,
      digest uuid not null,
      text text not null
    ) partition by range (event)`,
    'create index event_text_by_id on event_text (id) with (fillfactor = 100)',
    'create index event_text_by_text on event_text using gin (text gin_trgm_ops) with (gin_pending_list_limit = 2048)',
    ...createTextPartitionSql(0),
    `alter table event_log_head
       add column texts bigint not null default 0,
       add column texts_partitioned_to bigint not null default ${partitionLength}`,
    `alter table event_search
       add column creator_text bigint,
       add column constant_text bigint,
       add column varying_text bigint`,
    ...['creator_text', 'constant_text', 'varying_text'].map(
      (
        column,
      ) => `-- allow blocking-index: no row has a value yet, so it takes a second per million events, in which appends wait
        create index event_search_by_${column} on event_search (${column}) where ${column} is not null`,
    ),
    `-- allow blocking-index: it has ids alone and takes a second per million events, in which appends wait and reads do not
     create index event_search_unindexed on event_search (id) where text <> ''`,
  ],
};

/** The migrations of the event log's database, in the order in which they are applied. */
export const auditMigrations: readonly SchemaMigration[] = [eventLog, consumerTables, eventTexts];
