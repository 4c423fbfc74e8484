import type { SchemaStep } from '@bunting/database';

/** Whose favourite a project is, when it last changed, and what people call a type of strategies. */
export const settings: SchemaStep = {
  name: '2026-11-24-settings',
  statements: [
    `create table project_favorite (
      user_id integer not null,
      project text not null references project on delete cascade,
      primary key (project, user_id)
    )`,
    'alter table project add column updated_at timestamptz',
    'alter table strategy_type add column title text',
  ],
};
