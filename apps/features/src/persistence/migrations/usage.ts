import type { SchemaStep } from '@bunting/database';

/** What was counted: by minute for the last hour, beside each other in one row; by hour and application for two days. */
export const usage: SchemaStep = {
  name: '2026-11-23-usage',
  statements: [
    `alter table feature_seen
      drop column hour, drop column yes, drop column no,
      add column minutes integer[] not null default '{}',
      add column yes_by_minute bigint[] not null default '{}',
      add column no_by_minute bigint[] not null default '{}',
      add column told_at timestamptz not null default 'epoch',
      set (fillfactor = 60)`,
    // Without references, which each row would have to be checked against: what a feature that is gone leaves is dropped below.
    `create table feature_usage_hour (
      feature text not null,
      environment text not null,
      app_name text not null,
      hour timestamptz not null,
      yes bigint not null,
      no bigint not null,
      variants jsonb not null default '{}',
      primary key (feature, environment, app_name, hour)
    ) with (fillfactor = 80)`,
    'create index feature_usage_hour_by_hour on feature_usage_hour (hour)',
    `create function drop_usage_of_features() returns trigger language plpgsql as $$
      begin
        delete from feature_usage_hour where feature in (select name from gone);
        return null;
      end $$`,
    `create trigger feature_takes_its_usage_along after delete on feature referencing old table as gone
      for each statement execute function drop_usage_of_features()`,
    `create table client_application (
      app_name text primary key,
      sdk_version text,
      strategies jsonb not null default '[]',
      created_at timestamptz not null,
      last_seen_at timestamptz not null
    )`,
    `create table client_application_usage (
      app_name text not null references client_application on delete cascade,
      project text not null,
      environment text not null,
      primary key (app_name, project, environment)
    )`,
    'alter table feature add column potentially_stale boolean not null default false',
  ],
};
