import type { SchemaStep } from '@bunting/database';

/**
 * What a producer needs. `outbox_head(topic)` gives every committed row its place and answers where the end is: a sequence
 * would number rows before they commit, and a reader paging by it would lose those that commit late.
 */
export const outboxTables: SchemaStep = {
  name: '2026-11-21-outbox',
  statements: [
    `create table outbox (
      id bigint generated always as identity primary key,
      topic text not null check (topic in ('event', 'state')),
      position bigint,
      uid uuid not null default gen_random_uuid(),
      type text not null,
      entity_key text,
      recorded_at timestamptz not null default clock_timestamp(),
      traceparent text,
      payload json not null
    )`,
    'create unique index outbox_by_position on outbox (topic, position) where position is not null',
    'create index outbox_without_position on outbox (topic, id) where position is null',
    "create index outbox_by_entity on outbox (entity_key, position) where topic = 'state'",
    `create table outbox_topic (
      topic text primary key,
      position bigint not null default 0,
      published bigint not null default 0,
      epoch bigint not null default 0
    )`,
    "insert into outbox_topic (topic) values ('event'), ('state')",
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

/** What a consumer needs: how far it has applied each producer's topic, and what it could not apply. */
export const inboxTables: SchemaStep = {
  name: '2026-11-21-inbox',
  statements: [
    `create table inbox (
      producer text not null,
      topic text not null,
      position bigint not null default 0,
      primary key (producer, topic)
    )`,
    `create table parked_message (
      producer text not null,
      topic text not null,
      position bigint not null,
      uid uuid not null,
      payload json not null,
      reason text not null,
      parked_at timestamptz not null default now(),
      primary key (producer, topic, position)
    )`,
  ],
};

/** By what a consumer knows a producer's outbox again, and what it was told of and never given. */
export const inboxHistory: SchemaStep = {
  name: '2026-11-21-inbox-history',
  statements: [
    // A process of the version before moves on without a uid: which position it belongs to is said beside it.
    `alter table inbox add column uid uuid, add column uid_position bigint,
       add column history integer not null default 0`,
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

/**
 * Messages that could not be applied are kept as dead letters, by their uid: a producer that was restored from a backup gives positions
 * a second time. A process of the version before can no longer add one: its projection waits for one of this version.
 */
export const inboxDeadLetters: SchemaStep = {
  name: '2026-11-30-inbox-dead-letters',
  statements: [
    'alter table parked_message rename to dead_letter',
    'alter table dead_letter rename column parked_at to failed_at',
    `delete from dead_letter using dead_letter first
     where first.producer = dead_letter.producer and first.topic = dead_letter.topic and first.uid = dead_letter.uid
       and first.position < dead_letter.position`,
    `alter table dead_letter drop constraint parked_message_pkey, add primary key (producer, topic, uid),
       add column type text not null default 'unknown', add column recorded_at timestamptz not null default now(),
       add column traceparent text, add column entity_key text, add column attempts integer not null default 1,
       add column last_failed_at timestamptz not null default now(), add column next_attempt_at timestamptz not null default now()`,
    `alter table dead_letter alter column type drop default, alter column recorded_at drop default, alter column attempts drop default,
       alter column next_attempt_at drop default`,
  ],
};
