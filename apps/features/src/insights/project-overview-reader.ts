import {
  type GetProjectActivity,
  type PersonalDashboardProject,
  type ProjectStatus,
  type ReplyOf,
} from '@bunting/contracts';
import { type ReadDatabase, timestampSql, type Statement } from '@bunting/database';
import { noProjectFound } from '../refusals.ts';
import { selectFeaturesOfProject } from '../unit-of-work/feature-queries.ts';
import { orNull, withoutNulls } from '../unit-of-work/json-sql.ts';
import { type ProjectMembers, memberCountSql, ownersSql } from '../unit-of-work/project-members-sql.ts';
import {
  featureTypeCountsSql,
  healthSql,
  joinMetrics,
  leadTimeSql,
  lifecycleSummarySql,
  onboardingStatusSql,
  statsSql,
} from './project-metrics-sql.ts';

/** The overview of the project `$1` for the user `$2`, with more JSON members: `$3` members of the project, `$4` its activity or null. */
const overview = (...more: readonly string[]): string => `
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

const withoutFeatures: Statement = { name: 'project-overview', text: overview() };
const features = `'features': (select listed.json::json -> 'features' from (${selectFeaturesOfProject()}) as listed)`;
const withFeatures: Statement = { name: 'project-with-features', text: overview(features) };
const withHealth: Statement = {
  name: 'project-health',
  text: overview(
    features,
    `'activeCount': feature_counts.features - feature_counts.stale, 'staleCount': feature_counts.stale`,
    `'potentiallyStaleCount': feature_counts.potentially_stale`,
  ),
};
const insights: Statement = {
  name: 'project-insights',
  text: `
    select json_build_object('stats', ${statsSql('$3')}, 'featureTypeCounts', ${featureTypeCountsSql}, 'leadTime', ${leadTimeSql('p.id')},
      'health', json_build_object('rating', ${healthSql}, 'activeCount', feature_counts.features - feature_counts.stale,
        'potentiallyStaleCount', feature_counts.potentially_stale, 'staleCount', feature_counts.stale),
      'members', json_build_object('currentMembers', ${memberCountSql}, 'change', coalesce(membership.added, 0)))::text as json
    from project p ${joinMetrics('$2')} where p.id = $1`,
};
const dora: Statement = { name: 'project-dora', text: `select ${leadTimeSql('$1')}::text as json` };
const status: Statement = {
  name: 'project-status',
  text: `
    select json_build_object('activityCountByDate', $3::json, 'health', json_build_object('current', ${healthSql}),
      'technicalDebt', json_build_object('current', 100 - ${healthSql}), 'staleFlags', json_build_object('total', feature_counts.stale),
      'resources', json_build_object('apiTokens', $4::integer, 'members', ${memberCountSql},
        'segments', (select count(*) from segment where project = p.id)),
      'lifecycleSummary', ${lifecycleSummarySql})::text as json
    from project p ${joinMetrics('$2')} where p.id = $1`,
};
const forPersonalDashboard: Statement = {
  name: 'project-for-caller',
  text: `
    select json_build_object('onboardingStatus', ${onboardingStatusSql}, 'owners', ${ownersSql},
      'insights', json_build_object('avgHealthCurrentWindow', null, 'avgHealthPastWindow', null,
        'totalFlags', feature_counts.features, 'activeFlags', feature_counts.features - feature_counts.stale - feature_counts.potentially_stale,
        'staleFlags', feature_counts.stale, 'potentiallyStaleFlags', feature_counts.potentially_stale, 'health', ${healthSql}),
      'latestEvents', $3::json, 'roles', $4::json)::text as json
    from project p ${joinMetrics('$2')} where p.id = $1`,
};

/** The numbers of events of a project. */
type Activity = Pick<ReplyOf<typeof GetProjectActivity>['projects'][number], 'currentWindow' | 'pastWindow'>;

/** Data about a project from other services. */
export interface ExternalProjectData {
  readonly members: readonly ProjectMembers[];
  /** undefined if it is not available: then the overview has no `stats` */
  readonly activity: Activity | undefined;
}

/** Reads pages about a project, as JSON, in one statement each. Refuses a project that does not exist, except in `dora`. */
export const projectOverviewReader = (database: ReadDatabase) => {
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
};
