import { lifecycleStageOfMember } from '@bunting/contracts';
import { timestampSql } from '@bunting/database';
import { currentStage } from '../unit-of-work/lifecycle-stage.ts';
import { joinMembers } from '../unit-of-work/project-members-sql.ts';

// SQL for the metrics of a project; in each, `p` is a row of `project`.

const windowOf = (column: string): string => `${column} > now() - interval '30 days'`;
const pastWindowOf = (column: string): string =>
  `${column} <= now() - interval '30 days' and ${column} > now() - interval '60 days'`;

/** SQL: the days between two times, to one decimal. */
const daysBetween = (from: string, to: string): string =>
  `round((extract(epoch from ${to} - ${from}) / 86400)::numeric, 1)`;

/** SQL to join: `feature_counts`, the numbers of active, stale, and potentially stale features. */
const joinFeatureCounts = `
  cross join lateral (
    select count(*) as features, count(*) filter (where stale) as stale,
      count(*) filter (where potentially_stale and not stale) as potentially_stale
    from feature where project = p.id and archived_at is null) as feature_counts`;

/** SQL: the percentage of active features that are not stale. */
export const healthSql = `case when feature_counts.features = 0 then 100
  else round(100.0 * (feature_counts.features - feature_counts.stale) / feature_counts.features) end`;

/** SQL: the number of active features by type. */
export const featureTypeCountsSql = `coalesce((
  select json_agg(json_build_object('type', type, 'count', features) order by type)
  from (select type, count(*) as features from feature where project = p.id and archived_at is null group by type) as by_type), '[]')`;

/** SQL: the onboarding status of the project. */
export const onboardingStatusSql = `
  case when exists (select from client_application_usage where project = p.id)
    or exists (select from feature f join feature_seen seen on seen.feature = f.name where f.project = p.id)
    then json_build_object('status', 'onboarded')
  else coalesce((
    select json_build_object('status', 'first-flag-created', 'feature', f.name)
    from feature f where f.project = p.id and f.archived_at is null order by f.created_at, f.name limit 1),
    json_build_object('status', 'onboarding-started')) end`;

/** SQL: statistics of the last 60 days. @param activity the parameter with the counts of events as JSON, or SQL null */
export const statsSql = (activity: string): string => `(
  select json_build_object(
    'avgTimeToProdCurrentWindow', coalesce(round(avg(${daysBetween('created_at', 'production_at')})
      filter (where production_at > '-infinity' and ${windowOf('production_at')}), 1), 0),
    'createdCurrentWindow', count(*) filter (where ${windowOf('created_at')}),
    'createdPastWindow', count(*) filter (where ${pastWindowOf('created_at')}),
    'archivedCurrentWindow', count(*) filter (where ${windowOf('archived_at')}),
    'archivedPastWindow', count(*) filter (where ${pastWindowOf('archived_at')}),
    'projectActivityCurrentWindow', (${activity}::json ->> 'currentWindow')::bigint,
    'projectActivityPastWindow', (${activity}::json ->> 'pastWindow')::bigint,
    'projectMembersAddedCurrentWindow', coalesce(membership.added, 0))
  from feature where project = p.id)`;

/** SQL: how many days features of a project took until they were first enabled in production, each and on average. */
export const leadTimeSql = (id: string): string => `(
  select json_build_object(
    'projectAverage', coalesce(round(avg(days), 1), 0),
    'features', coalesce(json_agg(json_build_object('name', name, 'timeToProduction', days) order by name), '[]'))
  from (
    select name, ${daysBetween('created_at', 'production_at')} as days from feature
    where project = ${id} and production_at > '-infinity') as delivered)`;

const { archived: _, ...activeStages } = lifecycleStageOfMember;

/**
 * SQL: the number of features in each lifecycle stage, and how many days they stay there on average. Stages that a feature enters after
 * its current one are left out.
 */
export const lifecycleSummarySql = `(
  select json_build_object(
    ${Object.entries(activeStages)
      .map(
        ([member, stage]) => `'${member}', json_build_object(
      'averageDays', round(avg(days) filter (where stage = '${stage}'), 1),
      'currentFlags', count(*) filter (where stage = '${stage}' and is_current and archived_at is null))`,
      )
      .join(', ')},
    'archived', (
      select json_build_object('currentFlags', count(*) filter (where archived_at is not null),
        'last30Days', count(*) filter (where ${windowOf('archived_at')}))
      from feature where project = p.id))
  from (
    select f.archived_at, entered ->> 'stage' as stage,
      entered = current.stage as is_current,
      extract(epoch from coalesce((lead(entered) over per_feature ->> 'enteredStageAt')::timestamptz, now())
        - (entered ->> 'enteredStageAt')::timestamptz) / 86400 as days
    from feature f
    cross join lateral (select ${currentStage('f')} as stage) as current
    cross join lateral jsonb_array_elements(f.lifecycle) with ordinality as listed (entered, ordinal)
    where f.project = p.id and entered ->> 'enteredStageAt' <= current.stage ->> 'enteredStageAt'
    window per_feature as (partition by f.name order by ordinal)) as stages)`;

/** SQL: the time of the last use of a feature of the project. */
export const lastUsageAtSql = timestampSql(`(
  select max(seen.last_seen_at) from feature f join feature_seen seen on seen.feature = f.name where f.project = p.id)`);

/** SQL to join: the feature counts and the members of a project. @param members the parameter with `ProjectMembers` as JSON */
export const joinMetrics = (members: string): string => `${joinFeatureCounts} ${joinMembers(members)}`;
