import type { SchemaStep } from '@bunting/database';

/**
 * What people say of an application, which instances of it report, and which flags it asks for that there are not. An application that only
 * frontend keys have named is marked: such keys are public, so their share of the list is limited and they write no events.
 */
export const applications: SchemaStep = {
  name: '2026-11-30-applications',
  statements: [
    `alter table client_application
      add column description text,
      add column url text,
      add column color text,
      add column icon text,
      add column created_by text,
      add column updated_at timestamptz,
      add column is_frontend boolean not null default false`,
    'create index client_application_by_last_seen on client_application (last_seen_at)',
    `create table client_instance (
      app_name text not null references client_application on delete cascade,
      environment text not null,
      instance_id text not null,
      sdk_version text,
      created_at timestamptz not null,
      last_seen_at timestamptz not null,
      primary key (app_name, environment, instance_id)
    )`,
    'create index client_instance_by_last_seen on client_instance (last_seen_at)',
    `create table client_missing_feature (
      app_name text not null references client_application on delete cascade,
      environment text not null,
      feature text not null,
      last_seen_at timestamptz not null,
      primary key (app_name, environment, feature)
    )`,
    'create index client_missing_feature_by_last_seen on client_missing_feature (last_seen_at)',
    'create index feature_usage_hour_by_application on feature_usage_hour (app_name, feature)',
  ],
};
