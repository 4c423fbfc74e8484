import type { SchemaMigration } from '@bunting/database';

/** The largest payload of one row, in bytes: it fits into a reply of the bus. */
export const maxPayloadBytes = 24 * 1024 * 1024;

/**
 * The tables of a producer. `outbox_head(topic)` assigns a position to every committed row, and returns the last position. A sequence would
 * number rows before they commit, so that a reader that pages by it would miss rows that commit late.
 */
export const outboxTables: SchemaMigration = {
  name: '1-outbox',
  statements: [
    `create table outbox (
      id bigint generated always as identity primary key,
      topic text not null,
      position bigint,
      uid uuid not null default gen_random_uuid(),
      type text not null,
      entity_key text,
      recorded_at timestamptz not null default clock_timestamp(),
      traceparent text,
      payload json not null constraint outbox_payload_size check (octet_length(payload::text) <= ${maxPayloadBytes})
    )`,
    'create unique index outbox_by_position on outbox (topic, position) where position is not null',
    'create index outbox_without_position on outbox (topic, id) where position is null',
    'create index outbox_by_entity on outbox (topic, entity_key, position) where entity_key is not null',
    `create table outbox_topic (
      topic text primary key,
      position bigint not null default 0,
      published bigint not null default 0
    )`,
    "insert into outbox_topic (topic) values ('event'), ('state'), ('delivery')",
    `create table outbox_consumer (
      topic text not null,
      consumer text not null,
      position bigint not null,
      confirmed_at timestamptz not null default now(),
      primary key (topic, consumer)
    )`,
    `create function outbox_head(wanted text) returns bigint language plpgsql as $$
    declare
      top bigint;
      added bigint;
    begin
      if not exists (select 1 from outbox where topic = wanted and position is null) then
        return (select position from outbox_topic where topic = wanted);
      end if;
      -- One at a time; and each statement below sees what was committed before it began.
      select position into top from outbox_topic where topic = wanted for update;
      with waiting as (
        select id, row_number() over (order by id) as nth from outbox where topic = wanted and position is null
      )
      update outbox set position = top + waiting.nth from waiting where outbox.id = waiting.id;
      get diagnostics added = row_count;
      update outbox_topic set position = top + added where topic = wanted;
      return top + added;
    end $$`,
  ],
};

/**
 * `outbox_reserve(counts)` gives a transaction the next positions of the topics `event`, `state` and `delivery`, after those of all rows that
 * are committed, and returns the positions before them. Until it ends, no other transaction gets positions, so it should commit with the
 * same round trip. Without counts it returns null.
 */
export const outboxReservation: SchemaMigration = {
  name: '2-expand-outbox-reservation',
  statements: [
    `create function outbox_reserve(counts integer[], out event bigint, out state bigint, out delivery bigint)
    language plpgsql as $$
    begin
      if counts is null then return; end if;
      -- In one order, so that none waits for another in a circle; and each statement below sees what was committed before it began.
      perform from outbox_topic order by topic for update;
      if exists (select from outbox where position is null) then
        perform outbox_head(topic) from outbox_topic;
      end if;
      with reserved as (
        update outbox_topic set position = outbox_topic.position + wanted.count
        from unnest(array['event', 'state', 'delivery'], counts) as wanted (topic, count)
        where outbox_topic.topic = wanted.topic and wanted.count > 0
        returning outbox_topic.topic, outbox_topic.position - wanted.count as before
      )
      select
        max(before) filter (where topic = 'event'), max(before) filter (where topic = 'state'),
        max(before) filter (where topic = 'delivery')
      into event, state, delivery from reserved;
    end $$`,
  ],
};

/**
 * Positions under one advisory lock instead of three row locks, and no primary key, whose entries nothing looks up. Processes of the version
 * before would pass on messages of changed entities without the states that this version no longer stores, so they must not run on.
 */
export const outboxOfChanges: SchemaMigration = {
  name: '3-contract-outbox-of-changes',
  statements: [
    `-- allow drop: rows are found by topic and position, or by their place while they have none
    alter table outbox drop constraint outbox_pkey`,
    `create or replace function outbox_head(wanted text) returns bigint language plpgsql as $$
    declare
      top bigint;
      added bigint;
    begin
      if not exists (select 1 from outbox where topic = wanted and position is null) then
        return (select position from outbox_topic where topic = wanted);
      end if;
      -- One at a time; and each statement below sees what was committed before it began.
      perform pg_advisory_xact_lock(hashtext('outbox positions'));
      select position into top from outbox_topic where topic = wanted for update;
      with waiting as (
        select ctid, row_number() over (order by id) as nth from outbox where topic = wanted and position is null
      )
      update outbox set position = top + waiting.nth from waiting where outbox.ctid = waiting.ctid;
      get diagnostics added = row_count;
      update outbox_topic set position = top + added where topic = wanted;
      return top + added;
    end $$`,
    `create or replace function outbox_reserve(counts integer[], out event bigint, out state bigint, out delivery bigint)
    language plpgsql as $$
    begin
      if counts is null then return; end if;
      perform pg_advisory_xact_lock(hashtext('outbox positions'));
      if exists (select from outbox where position is null) then
        perform outbox_head(topic) from outbox_topic;
      end if;
      if counts[1] > 0 then
        update outbox_topic set position = position + counts[1] where topic = 'event' returning position - counts[1] into event;
      end if;
      if counts[2] > 0 then
        update outbox_topic set position = position + counts[2] where topic = 'state' returning position - counts[2] into state;
      end if;
      if counts[3] > 0 then
        update outbox_topic set position = position + counts[3] where topic = 'delivery' returning position - counts[3] into delivery;
      end if;
    end $$`,
  ],
};

/**
 * The tables of a consumer: the checkpoint of each topic that it consumes, with the uid of the message there, by which it recognises the
 * producer's outbox; messages that could not be applied; and positions that the producer no longer had.
 */
export const consumerTables: SchemaMigration = {
  name: '1-consumer',
  statements: [
    `create table consumer_checkpoint (
      producer text not null,
      topic text not null,
      position bigint not null default 0,
      uid uuid,
      epoch integer not null default 0,
      primary key (producer, topic)
    )`,
    `create table dead_letter (
      producer text not null,
      topic text not null,
      position bigint not null,
      uid uuid not null,
      type text not null,
      recorded_at timestamptz not null,
      traceparent text,
      payload json not null,
      entity_key text,
      reason text not null,
      attempts integer not null,
      failed_at timestamptz not null default now(),
      last_failed_at timestamptz not null default now(),
      next_attempt_at timestamptz not null,
      primary key (producer, topic, uid)
    )`,
    `create table missed_message (
      producer text not null,
      topic text not null,
      first bigint not null,
      last bigint not null,
      noticed_at timestamptz not null default now(),
      primary key (producer, topic, first)
    )`,
  ],
};
