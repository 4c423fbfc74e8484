import type { SchemaStep } from '@bunting/database';
import { eventIndex, eventTerms, searchTerms } from './event-index.ts';
import { partitionedLog } from './partitions.ts';
import { projectActivityTable } from './project-activity.ts';

/**
 * `event` is the log. `event_search` holds what of it is searched: narrow, so that much of it is read fast, and made from
 * `event` alone. Both are keyed by id and by nothing else that would keep them from being split by ranges of it.
 * `event_log_head` is the end of the log: who appends holds its row until the commit, and so ids become visible in their order.
 * `event_count` says how many events there are of each type in each project.
 */
export const eventTables: SchemaStep = {
  name: '2026-11-21-events',
  statements: [
    'create extension if not exists pg_trgm',
    `create table event_log_head (
      one boolean primary key default true check (one),
      id bigint not null default 0,
      uid uuid,
      events bigint not null default 0
    )`,
    'insert into event_log_head default values',
    `create table event (
      id bigint primary key,
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
      tags json not null
    )`,
    'create unique index event_by_uid on event (uid)',
    `create table event_search (
      id bigint primary key,
      type text collate "C" not null,
      project text collate "C",
      feature_name text collate "C",
      text text not null
    )`,
    'create index event_search_by_type on event_search (type, id)',
    'create index event_search_by_project on event_search (project, id)',
    'create index event_search_by_project_and_type on event_search (project, type, id)',
    'create index event_search_by_feature on event_search (feature_name, id) include (type, project)',
    'create index event_search_by_text on event_search using gin (text gin_trgm_ops) with (gin_pending_list_limit = 1024)',
    `create table event_count (
      project text collate "C",
      type text collate "C" not null,
      events bigint not null,
      unique nulls not distinct (project, type)
    ) with (fillfactor = 50)`,
    'create index event_count_by_type on event_count (type)',
  ],
};

/**
 * `event.hash` is over the event and the hash before it. Up to `sealed_id` every event has one; what is beyond it was
 * appended by a version that knew of no hashes, and gets its own from the next process that knows. What was dropped for its
 * age ends with `dropped_id`; its hash is kept, for the chain goes on from it.
 */
export const eventChain: SchemaStep = {
  name: '2026-11-22-event-chain',
  statements: [
    'alter table event add column hash bytea',
    `alter table event_log_head
      add column sealed_id bigint not null default 0,
      add column sealed_hash bytea not null default decode(repeat('00', 32), 'hex'),
      add column dropped_id bigint not null default 0,
      add column dropped_hash bytea not null default decode(repeat('00', 32), 'hex')`,
  ],
};

/** Who caused events in which project, and which of them was the last. */
export const eventCreatorTable: SchemaStep = {
  name: '2026-11-22-event-creators',
  statements: [
    `create table event_creator (
      project text collate "C",
      id bigint not null,
      name text not null,
      last_event bigint not null,
      unique nulls not distinct (project, id)
    ) with (fillfactor = 50)`,
    `insert into event_creator (project, id, name, last_event)
      select distinct on (project, created_by_user_id) project, created_by_user_id, created_by, id from event
      where created_by_user_id is not null order by project, created_by_user_id, id desc`,
  ],
};

/** Every step of the log, in order. */
export const logSteps: readonly SchemaStep[] = [
  eventTables,
  eventChain,
  eventCreatorTable,
  partitionedLog,
  eventIndex,
  eventTerms,
  searchTerms,
  projectActivityTable,
];
