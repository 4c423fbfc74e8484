import type { SchemaMigration } from '@bunting/database';

function counts(key: string): string {
  return `
    yes bigint not null,
    no bigint not null,
    variants jsonb not null default '{}',
    primary key (${key})`;
}

/** Usage of before the last two days. Replicas of the version before drop it instead, as they always did, until they are replaced. */
export const usageHistory: SchemaMigration = {
  name: '2-expand-usage-history',
  statements: [
    `create table feature_usage_past_hour (
    feature text not null,
    environment text not null,
    hour timestamptz not null,${counts('feature, environment, hour')}
  )`,
    'create index feature_usage_past_hour_by_hour on feature_usage_past_hour (hour)',
    `create table feature_usage_day (
    feature text not null,
    environment text not null,
    app_name text not null,
    day date not null,${counts('feature, environment, app_name, day')}
  )`,
    'create index feature_usage_day_by_day on feature_usage_day (day)',
    // As of feature_usage_hour: no foreign keys, since each inserted sum would be checked against them.
    `create function drop_usage_history_of_features() returns trigger language plpgsql as $$
      begin
        delete from feature_usage_past_hour where feature in (select name from gone);
        delete from feature_usage_day where feature in (select name from gone);
        return null;
      end $$`,
    `create trigger feature_delete_usage_history after delete on feature referencing old table as gone
    for each statement execute function drop_usage_history_of_features()`,
  ],
};
