import type { FeatureState } from '@bunting/contracts';
import type { Tx } from '@bunting/database';
import type { Outbox } from '@bunting/outbox';
import { type EvaluationCount, maxCount } from './evaluation-counts.ts';
import type { ReportedFeature } from './stages-to-enter.ts';
import type { FeatureStages } from './match-counts.ts';
import { featureStatesSql } from '../unit-of-work/feature-queries.ts';

/** The retention period of usage by hour. */
export const usageRetentionHours = 48;

const capped = (sum: string): string => `least(${sum}, ${maxCount})::bigint`;

const environmentTypes = 'select name, type from environment';

const reported = (lock: string): string => `
  select f.name, f.project,
    array(select stage ->> 'stage' from jsonb_array_elements(f.lifecycle) as stage) as stages,
    array(select name from unnest($2::text[]) as name where (f.environments #>> array[name, 'enabled'])::boolean) as "enabledIn"
  from feature f where f.name = any ($1::text[]) and f.archived_at is null order by f.name ${lock}`;

const findReported = reported('');
const findReportedForUpdate = reported('for no key update of f');

/** All reports lock rows in the same order. Minutes that are older than an hour are removed. */
const addByMinute = `
  with counted as (
    select feature, environment,
      coalesce(array_agg(minute) filter (where minute > $2::integer - 60), '{}') as minutes,
      coalesce(array_agg(yes) filter (where minute > $2::integer - 60), '{}') as yes,
      coalesce(array_agg(no) filter (where minute > $2::integer - 60), '{}') as no,
      bool_or(yes > 0) as has_yes, bool_or(no > 0) as has_no
    from (
      select feature, environment, minute, ${capped('sum(yes)')} as yes, ${capped('sum(no)')} as no
      from json_to_recordset($1::json) as reported (feature text, environment text, minute integer, yes bigint, no bigint)
      group by feature, environment, minute) as by_minute
    group by feature, environment
  )
  insert into feature_seen as seen (
    feature, environment, last_seen_at, last_yes_at, last_no_at, minutes, yes_by_minute, no_by_minute, emitted_at)
  select feature, environment, $3::timestamptz, case when has_yes then $3::timestamptz end, case when has_no then $3::timestamptz end,
    minutes, yes, no, $3::timestamptz
  from counted order by feature, environment
  on conflict (feature, environment) do update set
    last_seen_at = greatest(seen.last_seen_at, excluded.last_seen_at),
    last_yes_at = greatest(seen.last_yes_at, excluded.last_yes_at),
    last_no_at = greatest(seen.last_no_at, excluded.last_no_at),
    (minutes, yes_by_minute, no_by_minute) = (
      select coalesce(array_agg(minute), '{}'), coalesce(array_agg(yes), '{}'), coalesce(array_agg(no), '{}')
      from (
        select minute, ${capped('sum(yes)')} as yes, ${capped('sum(no)')} as no
        from (
          select * from unnest(seen.minutes, seen.yes_by_minute, seen.no_by_minute) as earlier (minute, yes, no)
          union all
          select * from unnest(excluded.minutes, excluded.yes_by_minute, excluded.no_by_minute) as later (minute, yes, no)
        ) as all_counts
        where minute > $2::integer - 60 group by minute) as by_minute),
    emitted_at = case when seen.emitted_at < $3::timestamptz - interval '1 minute' then $3::timestamptz else seen.emitted_at end
  returning feature, emitted_at = $3::timestamptz as "isDue"`;

const addByHour = `
  insert into feature_usage_hour as stored (feature, environment, app_name, hour, yes, no, variants)
  select feature, environment, "appName", to_timestamp(hour * 3600::double precision), yes, no, variants
  from json_to_recordset($1::json)
    as reported (feature text, environment text, "appName" text, hour integer, yes bigint, no bigint, variants jsonb)
  order by 1, 2, 3, 4
  on conflict (feature, environment, app_name, hour) do update set
    yes = ${capped('stored.yes + excluded.yes')},
    no = ${capped('stored.no + excluded.no')},
    variants = case when excluded.variants = '{}' then stored.variants else (
      select jsonb_object_agg(name, count) from (
        select name, ${capped('sum(count::bigint)')} as count
        from (
          select * from jsonb_each_text(stored.variants) as earlier (name, count)
          union all
          select * from jsonb_each_text(excluded.variants) as later (name, count)
        ) as all_counts group by name order by name limit 200) as by_name) end`;

const enterLifecycleStagesSql = `
  with entering as (
    select name, stages from json_to_recordset($1::json) as reported (name text, stages jsonb)
  ), locked_feature as (
    select f.name, entering.stages from feature f join entering on entering.name = f.name order by f.name for no key update of f skip locked
  ), saved as (
    update feature set lifecycle = feature.lifecycle || locked_feature.stages, version = feature.version + 1
    from locked_feature where feature.name = locked_feature.name returning feature.*
  ) ${featureStatesSql('saved')}`;

const minutesPerHour = 60;

interface HourCount extends Omit<EvaluationCount, 'minute' | 'variants'> {
  readonly hour: number;
  readonly variants: Record<string, number>;
}

/** Sums up counts: one entry for each feature, environment, application and hour. */
const sumByHour = (counts: readonly EvaluationCount[]): HourCount[] => {
  const sums = new Map<string, HourCount>();
  for (const { feature, environment, appName, minute, yes, no, variants } of counts) {
    const hour = Math.floor(minute / minutesPerHour);
    const key = JSON.stringify([feature, environment, appName, hour]);
    const sum = sums.get(key);
    const byVariant = new Map(Object.entries(sum?.variants ?? {}));
    for (const [name, count] of Object.entries(variants)) {
      byVariant.set(name, Math.min((byVariant.get(name) ?? 0) + count, maxCount));
    }
    sums.set(key, {
      feature,
      environment,
      appName,
      hour,
      yes: Math.min((sum?.yes ?? 0) + yes, maxCount),
      no: Math.min((sum?.no ?? 0) + no, maxCount),
      variants: Object.fromEntries(byVariant),
    });
  }
  return [...sums.values()];
};

/** Usage within a transaction. Each method is one statement, for any number of features in a report. */
export const usageRepository = ({ query }: Tx, outbox: Outbox) => ({
  /** The types of all environments, by name. */
  environmentTypes: async (): Promise<Map<string, string>> =>
    new Map((await query<{ name: string; type: string }>(environmentTypes)).map(({ name, type }) => [name, type])),

  /** The active features with these names, and in which of the environments each of them is enabled. */
  findReported: (names: readonly string[], environments: readonly string[]): Promise<ReportedFeature[]> =>
    query(findReported, [names, environments]),
  /** As `findReported`, with the features locked in the order of their names. */
  findReportedForUpdate: (names: readonly string[], environments: readonly string[]): Promise<ReportedFeature[]> =>
    query(findReportedForUpdate, [names, environments]),

  /** Adds counts by minute. Returns the features whose usage was not emitted within the last minute. */
  addByMinute: async (counts: readonly EvaluationCount[], now: Date): Promise<string[]> => {
    const rows = counts.map(({ feature, environment, minute, yes, no }) => ({
      feature,
      environment,
      minute,
      yes,
      no,
    }));
    const values = [JSON.stringify(rows), Math.floor(now.getTime() / 60_000), now.toISOString()];
    const stored = await query<{ feature: string; isDue: boolean }>(addByMinute, values);
    return [...new Set(stored.filter(({ isDue }) => isDue).map(({ feature }) => feature))];
  },

  /** Adds counts by hour and application. Counts that are older than the retention period are ignored. */
  addByHour: async (counts: readonly EvaluationCount[], now: Date): Promise<void> => {
    const oldest = Math.floor(now.getTime() / 3_600_000) - usageRetentionHours;
    const rows = sumByHour(counts).filter(({ hour }) => hour > oldest);
    if (rows.length > 0) await query(addByHour, [JSON.stringify(rows)]);
  },

  /**
   * Stores the lifecycle stages that features enter, if any, and emits the states of all of the features. Skips features that another
   * transaction has locked.
   */
  enterStagesAndEmit: async (features: readonly FeatureStages[]): Promise<void> => {
    if (features.length === 0) return;
    for (const { version, state } of await query<{ version: number; state: FeatureState }>(enterLifecycleStagesSql, [
      JSON.stringify(features),
    ])) {
      outbox.emitState({ entity: 'feature', id: state.name, version, state });
    }
  },
});
