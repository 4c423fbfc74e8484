import {
  type GetProjectActivity,
  lifecycleStageOfMember,
  type PersonalDashboard,
  type PersonalDashboardProject,
  type ProjectStatus,
  type ReplyOf,
} from '@bunting/contracts';
import { prepared, type ReadDatabase, type Statement, timestampSql } from '@bunting/database';
import { noProjectFound } from '../refusals.ts';
import { currentStage, selectFeaturesOfProject } from '../unit-of-work/feature-sql.ts';
import {
  joinMembers,
  memberCountSql,
  orNull,
  ownersSql,
  type ProjectMembers,
  readJson,
  withoutNulls,
} from '../unit-of-work/sql.ts';

// SQL for the metrics of a project; in each, `p` is a row of `project`.

function windowOf(column: string): string {
  return `${column} > now() - interval '30 days'`;
}
function pastWindowOf(column: string): string {
  return `${column} <= now() - interval '30 days' and ${column} > now() - interval '60 days'`;
}

/** SQL: the days between two times, to one decimal. */
function daysBetween(from: string, to: string): string {
  return `round((extract(epoch from ${to} - ${from}) / 86400)::numeric, 1)`;
}

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
const featureTypeCountsSql = `coalesce((
  select json_agg(json_build_object('type', type, 'count', features) order by type)
  from (select type, count(*) as features from feature where project = p.id and archived_at is null group by type) as by_type), '[]')`;

/** SQL: the onboarding status of the project. */
const onboardingStatusSql = `
  case when exists (select from client_application_usage where project = p.id)
    or exists (select from feature f join feature_seen seen on seen.feature = f.name where f.project = p.id)
    then json_build_object('status', 'onboarded')
  else coalesce((
    select json_build_object('status', 'first-flag-created', 'feature', f.name)
    from feature f where f.project = p.id and f.archived_at is null order by f.created_at, f.name limit 1),
    json_build_object('status', 'onboarding-started')) end`;

/** SQL: statistics of the last 60 days. @param activity the parameter with the counts of events as JSON, or SQL null */
function statsSql(activity: string): string {
  return `(
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
}

/** SQL: how many days features of a project took until they were first enabled in production, each and on average. */
function leadTimeSql(id: string): string {
  return `(
  select json_build_object(
    'projectAverage', coalesce(round(avg(days), 1), 0),
    'features', coalesce(json_agg(json_build_object('name', name, 'timeToProduction', days) order by name), '[]'))
  from (
    select name, ${daysBetween('created_at', 'production_at')} as days from feature
    where project = ${id} and production_at > '-infinity') as delivered)`;
}

/** SQL: by month, how many days features took until they were first enabled in production: the median of the last twelve months. */
const timeToProductionSql = `(
  select json_agg(json_build_object('month', to_char(month, 'YYYY-MM'), 'features', coalesce(features, 0), 'medianDays', median) order by month)
  from generate_series(date_trunc('month', now() at time zone 'UTC') - interval '11 months', now() at time zone 'UTC', interval '1 month') as month
  left join (
    select date_trunc('month', production_at at time zone 'UTC') as month, count(*) as features,
      round(percentile_cont(0.5) within group (order by extract(epoch from production_at - created_at) / 86400)::numeric, 1) as median
    from feature where project = p.id and production_at > now() - interval '1 year' group by 1) as delivered using (month))`;

const { archived: _, ...activeStages } = lifecycleStageOfMember;

/**
 * SQL: the number of features in each lifecycle stage, and how many days they stay there on average. Stages that a feature enters after
 * its current one are left out.
 */
const lifecycleSummarySql = `(
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

/** SQL to join: the feature counts and the members of a project. @param members the parameter with `ProjectMembers` as JSON */
export function joinMetrics(members: string): string {
  return `${joinFeatureCounts} ${joinMembers(members)}`;
}

/** The overview of the project `$1` for the user `$2`, with more JSON members: `$3` members of the project, `$4` its activity or null. */
function overview(...more: readonly string[]): string {
  return `
  select ${withoutNulls(
    `'version': 1, 'name': p.name, 'description': p.description, 'mode': p.mode`,
    `'defaultStickiness': p.default_stickiness, 'featureLimit': ${orNull('p.feature_limit')}`,
    `'featureNaming': coalesce(p.feature_naming, '{"pattern": null, "example": null, "description": null}')`,
    `'health': ${healthSql}`,
    `'favorite': exists (select from project_favorite where project = p.id and user_id = $2)`,
    `'members': ${memberCountSql}, 'owners': ${ownersSql}`,
    `'createdAt': ${timestampSql('p.created_at')}, 'updatedAt': ${timestampSql('coalesce(p.updated_at, p.created_at)')}`,
    `'archivedAt': ${timestampSql('p.archived_at')}`,
    `'environments': coalesce((
      select json_agg(${withoutNulls(`'environment': e.name, 'defaultStrategy': connection.default_strategy`)}
        order by e.sort_order, e.name)
      from project_environment connection join environment e on e.name = connection.environment
      where connection.project = p.id), '[]')`,
    `'featureTypeCounts': ${featureTypeCountsSql}, 'onboardingStatus': ${onboardingStatusSql}`,
    `'stats': case when $4::json is not null then ${statsSql('$4')} end`,
    ...more,
  )}::text as json
  from project p ${joinMetrics('$3')}
  where p.id = $1`;
}

const withoutFeatures = prepared(overview());
const features = `'features': (select listed.json::json -> 'features' from (${selectFeaturesOfProject()}) as listed)`;
const withFeatures = prepared(overview(features));
const withHealth = prepared(
  overview(
    features,
    `'activeCount': feature_counts.features - feature_counts.stale, 'staleCount': feature_counts.stale`,
    `'potentiallyStaleCount': feature_counts.potentially_stale`,
  ),
);
const insights = prepared(`
  select json_build_object('stats', ${statsSql('$3')}, 'featureTypeCounts', ${featureTypeCountsSql}, 'leadTime', ${leadTimeSql('p.id')},
    'health', json_build_object('rating', ${healthSql}, 'activeCount', feature_counts.features - feature_counts.stale,
      'potentiallyStaleCount', feature_counts.potentially_stale, 'staleCount', feature_counts.stale),
    'members', json_build_object('currentMembers', ${memberCountSql}, 'change', coalesce(membership.added, 0)))::text as json
  from project p ${joinMetrics('$2')} where p.id = $1`);
const dora = prepared(`select ${leadTimeSql('$1')}::text as json`);
const status = prepared(`
  select json_build_object('activityCountByDate', $3::json, 'health', json_build_object('current', ${healthSql}),
    'technicalDebt', json_build_object('current', 100 - ${healthSql}), 'staleFlags', json_build_object('total', feature_counts.stale),
    'resources', json_build_object('apiTokens', $4::integer, 'members', ${memberCountSql},
      'segments', (select count(*) from segment where project = p.id)),
    'lifecycleSummary', ${lifecycleSummarySql}, 'timeToProduction', ${timeToProductionSql})::text as json
  from project p ${joinMetrics('$2')} where p.id = $1`);
const forPersonalDashboard = prepared(`
  select json_build_object('onboardingStatus', ${onboardingStatusSql}, 'owners', ${ownersSql},
    'insights', json_build_object('avgHealthCurrentWindow', null, 'avgHealthPastWindow', null,
      'totalFlags', feature_counts.features, 'activeFlags', feature_counts.features - feature_counts.stale - feature_counts.potentially_stale,
      'staleFlags', feature_counts.stale, 'potentiallyStaleFlags', feature_counts.potentially_stale, 'health', ${healthSql}),
    'latestEvents', $3::json, 'roles', $4::json)::text as json
  from project p ${joinMetrics('$2')} where p.id = $1`);

/** The numbers of events of a project. */
type Activity = Pick<ReplyOf<typeof GetProjectActivity>['projects'][number], 'currentWindow' | 'pastWindow'>;

/** Data about a project from other services. */
export interface ExternalProjectData {
  readonly members: readonly ProjectMembers[];
  /** undefined if it is not available: then the overview has no `stats` */
  readonly activity: Activity | undefined;
}

/** Reads pages about a project, as JSON, in one statement each. Refuses a project that does not exist, except in `dora`. */
export function projectOverviewReader(database: ReadDatabase) {
  const read = async (statement: Statement, id: string, ...more: unknown[]): Promise<string> => {
    const [row] = await database.read<{ json: string }>(statement, [id, ...more]);
    if (row === undefined) throw noProjectFound(id);
    return row.json;
  };
  const overviewReader =
    (statement: Statement) =>
    (id: string, userId: number, { members, activity }: ExternalProjectData): Promise<string> =>
      read(statement, id, userId, JSON.stringify(members), activity === undefined ? null : JSON.stringify(activity));
  return {
    overview: overviewReader(withoutFeatures),
    withFeatures: overviewReader(withFeatures),
    withHealth: overviewReader(withHealth),
    insights: (id: string, members: readonly ProjectMembers[], activity: Activity): Promise<string> =>
      read(insights, id, JSON.stringify(members), JSON.stringify(activity)),
    /** The lead times of a project; without features if the project does not exist. */
    dora: (id: string): Promise<string> => read(dora, id),
    status: (
      id: string,
      members: readonly ProjectMembers[],
      { days, apiTokens }: { readonly days: ProjectStatus['activityCountByDate']; readonly apiTokens: number },
    ): Promise<string> => read(status, id, JSON.stringify(members), JSON.stringify(days), apiTokens),
    /** The part of the personal dashboard about one project. */
    forPersonalDashboard: (
      id: string,
      members: readonly ProjectMembers[],
      { latestEvents, roles }: Pick<PersonalDashboardProject, 'latestEvents' | 'roles'>,
    ): Promise<string> =>
      read(forPersonalDashboard, id, JSON.stringify(members), JSON.stringify(latestEvents), JSON.stringify(roles)),
  };
}

/** The user of a dashboard and the projects on it. */
export interface PersonalDashboardScope {
  readonly id: number;
  /** the projects to show; null for all that are not hidden */
  readonly projects: readonly string[] | null;
  readonly hidden: readonly string[];
}

const personalDashboard = prepared(`
  select json_build_object(
    'projects', coalesce((
      select json_agg(json_build_object('id', p.id, 'name', p.name, 'health', ${healthSql}, 'memberCount', ${memberCountSql},
        'featureCount', feature_counts.features) order by p.name collate "C", p.id)
      from project p ${joinMetrics('$4')}
      where p.archived_at is null and p.id <> all ($3::text[]) and ($2::text[] is null or p.id = any ($2::text[]))), '[]'),
    'flags', coalesce((
      select json_agg(json_build_object('name', name, 'type', type, 'project', project) order by created_at desc, name)
      from (
        select name, type, project, created_at from feature f
        where archived_at is null and project <> all ($3::text[])
          and (created_by_id = $1 or name in (select feature from feature_favorite where user_id = $1))
        order by created_at desc, name limit 100) as own), '[]'),
    'projectOwners', $5::json, 'admins', $6::json)::text as json`);

/** Reads the personal dashboard, as JSON, in one statement. */
export function personalDashboardReader(database: ReadDatabase) {
  return {
    read: (
      { id, projects, hidden }: PersonalDashboardScope,
      members: readonly ProjectMembers[],
      { projectOwners, admins }: Pick<PersonalDashboard, 'projectOwners' | 'admins'>,
    ): Promise<string> =>
      readJson(database, personalDashboard, [
        id,
        projects,
        hidden,
        ...[members, projectOwners, admins].map((value) => JSON.stringify(value)),
      ]),
  };
}
