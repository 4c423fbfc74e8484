import {
  boundEnvironment,
  type Caller,
  type EdgeInstance,
  type EdgeInstanceBody,
  type EdgeReport,
  type EdgeRevision,
  keptEdgeReport,
  recentUsageDays,
} from '@bunting/contracts';
import { prepared, type ReadDatabase, type Statement, timestampSql, type Tx } from '@bunting/database';
import type { Outbox } from '@bunting/outbox';
import { featureNotFound } from '../refusals.ts';
import { joinLastHour } from '../unit-of-work/feature-sql.ts';
import { readJson } from '../unit-of-work/sql.ts';
import type { UsagePeriod } from './usage-history.ts';
import { type EvaluationCount, type FeatureStages, maxCount, type ReportedFeature } from './evaluation-counts.ts';

const millisecondsPerDay = 86_400_000;

const commonMembers = `'version', 1, 'maturity', 'stable', 'featureName', f.name`;

function usageRows(hours: string): string {
  return `
  feature_usage_hour used join environment e on e.name = used.environment
  where used.feature = f.name and used.hour > now() - ${hours}`;
}

const lastHour = prepared(`
  select json_build_object(${commonMembers},
    'lastHourUsage', coalesce((
      select json_agg(json_build_object(
        'environment', e.name, 'timestamp', ${timestampSql("date_trunc('hour', seen.last_seen_at, 'UTC')")},
        'yes', last_hour.yes, 'no', last_hour.no) order by e.sort_order, e.name)
      from feature_seen seen join environment e on e.name = seen.environment ${joinLastHour('seen')}
      where seen.feature = f.name and last_hour.yes + last_hour.no > 0), '[]'),
    'seenApplications', coalesce((
      select json_agg(app_name order by app_name)
      from (select distinct used.app_name from ${usageRows("interval '2 hours'")}) as applications), '[]'))::text as json
  from feature f where f.name = $1 and f.project <> all ($2::text[])`);

/** The maximum number of counts by hour, environment and application in one reply: any number of applications may report. */
const maxRawMetrics = 50_000;

const byHour = prepared(`
  select json_build_object(${commonMembers},
    'data', coalesce((
      select json_agg(row order by position) from (
        select json_build_object(
          'featureName', f.name, 'appName', used.app_name, 'environment', used.environment,
          'timestamp', ${timestampSql('used.hour')}, 'yes', used.yes, 'no', used.no, 'variants', used.variants) as row,
          row_number() over (order by used.hour desc, e.sort_order, e.name, used.app_name) as position
        from ${usageRows('make_interval(hours => $2::integer)')}) as counted
      where position <= ${maxRawMetrics}), '[]'))::text as json
  from feature f where f.name = $1 and f.project <> all ($3::text[])`);

/** The maximum number of applications of a history. */
const maxApplications = 100;

/** `$1` feature, `$2` hidden projects, `$3` starts, `$4` source, `$5` unit, `$6` range. Sums of days and past hours begin where those by hour end. */
const history = prepared(`
  with counted as (
    select environment, to_timestamp(by_minute.minute * 60::double precision) as at, by_minute.yes, by_minute.no, '{}'::jsonb as variants
    from feature_seen seen, unnest(seen.minutes, seen.yes_by_minute, seen.no_by_minute) as by_minute (minute, yes, no)
    where seen.feature = $1 and $4 = 'minutes'
    union all
    select environment, hour, yes, no, variants from feature_usage_hour where feature = $1 and $4 <> 'minutes'
    union all
    select environment, hour, yes, no, variants from feature_usage_past_hour where feature = $1 and $4 = 'hours'
    union all
    select environment, day::timestamp at time zone 'UTC', yes, no, variants from feature_usage_day where feature = $1 and $4 = 'days'
  ), placed as (
    select environment, width_bucket(at, $3::timestamptz[]) as nth, yes, no, variants from counted
    where at >= ($3::timestamptz[])[1]
  ), by_variant as (
    select environment, nth, name, ${capped('sum(count::bigint)')} as count
    from placed, jsonb_each_text(variants) as variant (name, count) group by environment, nth, name
  ), variants as (
    select environment, nth, json_object_agg(name, count order by name) as json from by_variant group by environment, nth
  ), summed as (
    select environment, nth, ${capped('sum(yes)')} as yes, ${capped('sum(no)')} as no from placed group by environment, nth
  ), applications as (
    select app_name, environment, ${capped('sum(yes)')} as yes, ${capped('sum(no)')} as no from (
      select app_name, environment, yes, no from feature_usage_hour
      where feature = $1 and hour >= date_trunc('hour', ($3::timestamptz[])[1], 'UTC')
      union all
      select app_name, environment, yes, no from feature_usage_day
      where feature = $1 and day >= (($3::timestamptz[])[1] at time zone 'UTC')::date and $4 <> 'minutes') as used
    group by app_name, environment order by sum(yes) + sum(no) desc, app_name, environment limit ${maxApplications}
  )
  select json_build_object('featureName', f.name, 'range', $6::text, 'from', ${timestampSql('($3::timestamptz[])[1]')}, 'unit', $5::text,
    'environments', coalesce((
      select json_agg(json_build_object('environment', e.name, 'buckets', (
        select json_agg(json_build_object('at', ${timestampSql('($3::timestamptz[])[summed.nth]')}, 'yes', yes, 'no', no,
          'variants', coalesce(variants.json, '{}')) order by summed.nth)
        from summed left join variants using (environment, nth) where summed.environment = e.name)) order by e.sort_order, e.name)
      from environment e where e.name in (select environment from summed)), '[]'),
    'applications', coalesce((
      select json_agg(json_build_object('appName', app_name, 'environment', environment, 'yes', yes, 'no', no)
        order by yes + no desc, app_name, environment) from applications), '[]'))::text as json
  from feature f where f.name = $1 and f.project <> all ($2::text[])`);

/** `$1` features, `$2` hidden projects, `$3` the first day in UTC, `$4` the number of days. Sums of days begin where those by hour end. */
const recent = prepared(`
  with asked as (
    select name from feature where name = any ($1::text[]) and project <> all ($2::text[])
  ), counted as (
    select feature, environment, (hour at time zone 'UTC')::date as day, yes, no from feature_usage_hour
    where feature in (select name from asked) and hour >= $3::timestamptz
    union all
    select feature, environment, day, yes, no from feature_usage_day
    where feature in (select name from asked) and day >= ($3::timestamptz at time zone 'UTC')::date
  ), summed as (
    select feature, environment, day, ${capped('sum(yes)')} as yes, ${capped('sum(no)')} as no from counted group by 1, 2, 3
  ), by_environment as (
    select used.feature, e.name as environment, e.sort_order,
      json_agg(coalesce(summed.yes, 0) order by nth) as yes, json_agg(coalesce(summed.no, 0) order by nth) as no
    from (select distinct feature, environment from summed) as used
      join environment e on e.name = used.environment
      cross join generate_series(0, $4::integer - 1) as nth
      left join summed on summed.feature = used.feature and summed.environment = used.environment
        and summed.day = ($3::timestamptz at time zone 'UTC')::date + nth
    group by 1, 2, 3
  ), by_feature as (
    select feature, json_agg(json_build_object('environment', environment, 'yes', yes, 'no', no)
      order by sort_order, environment) as environments
    from by_environment group by feature
  )
  select json_build_object('from', ${timestampSql('$3::timestamptz')}, 'features', coalesce((
    select json_agg(json_build_object('name', feature, 'environments', environments) order by feature)
    from by_feature), '[]'))::text as json`);

/** Reads usage outside of transactions, as JSON, in one statement each. */
export function usageReader(database: ReadDatabase) {
  const readJsonOrRefuse = async (
    statement: Statement,
    values: readonly [feature: string, ...unknown[]],
  ): Promise<string> => {
    const [row] = await database.read<{ json: string }>(statement, values);
    if (row === undefined) throw featureNotFound(values[0]);
    return row.json;
  };

  return {
    lastHour: (feature: string, hidden: readonly string[]): Promise<string> =>
      readJsonOrRefuse(lastHour, [feature, hidden]),
    /** The evaluations by hour of the last `hoursBack` hours, the newest `maxRawMetrics` counts of them. */
    byHour: (feature: string, hoursBack: number, hidden: readonly string[]): Promise<string> =>
      readJsonOrRefuse(byHour, [feature, hoursBack, hidden]),
    history: (
      feature: string,
      { range, starts, source, unit }: UsagePeriod,
      hidden: readonly string[],
    ): Promise<string> => readJsonOrRefuse(history, [feature, hidden, starts, source, unit, range]),
    /** The evaluations of features on each of the last days. */
    recent: (features: readonly string[], now: Date, hidden: readonly string[]): Promise<string> => {
      const today = Math.floor(now.getTime() / millisecondsPerDay) * millisecondsPerDay;
      const from = new Date(today - (recentUsageDays - 1) * millisecondsPerDay).toISOString();
      return readJson(database, recent, [features, hidden, from, recentUsageDays]);
    },
  };
}

/** The retention period of usage by hour and application, after which sums of it are kept. */
export const usageRetentionHours = 48;
/** For how long an edge is listed that does not report any more. */
export const edgeRetentionHours = 24;

/** SQL: a sum of counts that JSON transports exactly. */
export function capped(sum: string): string {
  return `least(${sum}, ${maxCount})::bigint`;
}

const environmentTypes = 'select name, type from environment';

function reported(lock: string): string {
  return `
  select f.name, f.project,
    array(select stage ->> 'stage' from jsonb_array_elements(f.lifecycle) as stage) as stages,
    array(select name from unnest($2::text[]) as name where (f.environments #>> array[name, 'enabled'])::boolean) as "enabledIn"
  from feature f where f.name = any ($1::text[]) and f.archived_at is null order by f.name ${lock}`;
}

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
    emitted_at = case when abs(extract(epoch from $3::timestamptz - seen.emitted_at)) > 60 then $3::timestamptz else seen.emitted_at end
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
  )
  update feature set lifecycle = feature.lifecycle || locked_feature.stages, version = feature.version + 1
  from locked_feature where feature.name = locked_feature.name returning feature.name`;

const minutesPerHour = 60;

interface HourCount extends Omit<EvaluationCount, 'minute' | 'variants'> {
  readonly hour: number;
  readonly variants: Record<string, number>;
}

/** Sums up counts: one entry for each feature, environment, application and hour. */
function sumByHour(counts: readonly EvaluationCount[]): HourCount[] {
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
}

/** Usage within a transaction. Each method is one statement, for any number of features in a report. */
export function usageRepository({ query }: Tx, outbox: Outbox) {
  return {
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
      const rows = await query<{ name: string }>(enterLifecycleStagesSql, [JSON.stringify(features)]);
      for (const { name } of rows) outbox.emitChange('feature', name);
    },
  };
}

const selectEnvironment = prepared(`
  select name from environment where name = $1 or ($2::boolean and enabled)
  order by name <> $1, sort_order, name limit 1`);

/**
 * The environment that a report or a registration of an application is about: that of its token, or else the requested one. An admin token
 * is not bound to an environment: without a name, or with the name `default` if no environment has it, it gets the first enabled environment.
 * Undefined if the environment does not exist.
 */
export function findEnvironmentOfReport(database: ReadDatabase) {
  return async (caller: Caller, requested: string = 'default'): Promise<string | undefined> => {
    const environmentOfToken = boundEnvironment(caller);
    const values = [environmentOfToken ?? requested, environmentOfToken === undefined && requested === 'default'];
    return (await database.read<{ name: string }>(selectEnvironment, values))[0]?.name;
  };
}
/** The maximum size of the list, in bytes of reports: the latest reports that fit are listed. */
const maxListedBytes = 8 * 1024 * 1024;

const list = prepared(`
  select report, ${timestampSql('last_seen_at')} as "reportedAt" from (
    select *, sum(octet_length(report::text)) over (order by last_seen_at desc, identifier) as bytes from edge_instance
    where last_seen_at > now() - interval '${edgeRetentionHours} hours'
  ) as measured where bytes <= ${maxListedBytes} order by last_seen_at desc, identifier`);

/** Without the revisions of projects of which some are hidden: they tell of changes there. */
function withoutHidden<E extends EdgeReport>(edge: E, hiddenProjects: readonly string[]): E {
  if (hiddenProjects.length === 0) return edge;
  const { edgeApiKeyRevisionIds, connectedEdges } = edge;
  const mayShow = ({ projects }: EdgeRevision): boolean =>
    !projects.some((project) => project === '*' || hiddenProjects.includes(project));
  return {
    ...edge,
    ...(edgeApiKeyRevisionIds && { edgeApiKeyRevisionIds: edgeApiKeyRevisionIds.filter(mayShow) }),
    ...(connectedEdges && { connectedEdges: connectedEdges.map((behind) => withoutHidden(behind, hiddenProjects)) }),
  };
}

/** Reads the latest report of each edge of the last day. */
export function edgeInstanceReader(database: ReadDatabase) {
  return async (hiddenProjects: readonly string[]): Promise<EdgeInstance[]> => {
    const rows = await database.read<{ report: EdgeInstanceBody; reportedAt: string }>(list);
    // A replica of an older version stores whatever it gets.
    return rows.map(({ report, reportedAt }) => ({
      ...withoutHidden(keptEdgeReport(report), hiddenProjects),
      reportedAt,
    }));
  };
}

/** The maximum number of edges whose reports are stored. */
const maxEdgeInstances = 1_000;

const store = `
  with replaced as (
    delete from edge_instance where identifier in (
      select identifier from edge_instance order by last_seen_at, identifier
      limit case when exists (select from edge_instance where identifier = $1) then 0
        else greatest(0, (select count(*) from edge_instance) - ${maxEdgeInstances - 1}) end
      for update skip locked)
  )
  insert into edge_instance as known (identifier, report, last_seen_at)
  values ($1, $2::jsonb, $3::timestamptz)
  on conflict (identifier) do update set report = excluded.report, last_seen_at = excluded.last_seen_at
    where known.last_seen_at <= excluded.last_seen_at`;

/** Stores reports of edges within a transaction. At the limit, a new instance replaces the one that is silent for longest. */
export function edgeInstanceRepository({ query }: Tx) {
  return {
    store: async (report: EdgeReport, now: Date): Promise<void> => {
      await query(store, [report.identifier, JSON.stringify(report), now.toISOString()]);
    },
  };
}
