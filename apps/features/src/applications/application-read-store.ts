import type { ApplicationsQuery, ProjectApplicationsQuery, Refusal } from '@bunting/contracts';
import { prepared, type ReadDatabase, type Statement, timestampSql } from '@bunting/database';
import { applicationNotFound, noProjectFound } from '../refusals.ts';
import { isFeatureMissingSql, isUsedOnlyInSql } from './application-store.ts';

function usageOf(hidden: string): string {
  return `
  select project, json_agg(environment order by environment) as environments, min(environment) as first
  from client_application_usage where app_name = a.app_name and project <> all (${hidden}::text[]) group by project`;
}

const descriptionMembers = `
  'description', a.description, 'url', a.url, 'color', a.color, 'icon', a.icon, 'createdBy', a.created_by,
  'createdAt', ${timestampSql('a.created_at')}, 'updatedAt', ${timestampSql('a.updated_at')}, 'lastSeenAt', ${timestampSql('a.last_seen_at')}`;

function usageJson(hidden: string): string {
  return `coalesce((
  select json_agg(json_build_object('project', project, 'environments', environments) order by project)
  from (${usageOf(hidden)}) as by_project), '[]')`;
}

/** The strategy types that SDKs have built in and list when they register, whether an installation has them or not. */
const typesBuiltIntoSdks = [
  'default',
  'flexibleRollout',
  'userWithId',
  'remoteAddress',
  'applicationHostname',
  'gradualRolloutRandom',
  'gradualRolloutSessionId',
  'gradualRolloutUserId',
];
/** SQL: whether the strategy type with a name is one that SDKs have built in: it is never missing. */
function isBuiltIntoSdksSql(name: string): string {
  return `${name} in (${typesBuiltIntoSdks.map((type) => `'${type}'`).join(', ')})`;
}

/** SQL: the name in the text `sdk`, such as `unleash-client-node` in `unleash-client-node:6.4.1`, or in `unleash-client-node@6.4.1`. */
function nameOf(sdk: string): string {
  return `regexp_replace(${sdk}, '(:|@v?[0-9]).*$', '')`;
}

/** SQL: the major version in the text `sdk`, 6 in both. */
function majorOf(sdk: string): string {
  return `substring(${sdk} from '[:@]v?([0-9]{1,6})(?:[.]|$)')::integer`;
}

const newestSdks = `newest as (
  select ${nameOf('sdk_version')} as sdk, max(${majorOf('sdk_version')}) as major
  from client_instance where sdk_version is not null group by 1)`;

/** SQL: whether there is a newer major version of the SDK `sdk`. */
function isOutdated(sdk: string): string {
  return `exists (
  select from newest where newest.sdk = ${nameOf(sdk)} and newest.major > ${majorOf(sdk)})`;
}

/** SQL: the application with the name `$1`, unless it is used only in the projects `$2`. */
const fromVisible = `from client_application a where a.app_name = $1 and not ${isUsedOnlyInSql('$2')}`;

const sortColumns = { appName: 'a.app_name', createdAt: 'a.created_at', lastSeenAt: 'a.last_seen_at' } as const;

type SortColumn = keyof typeof sortColumns;

/** The column to sort by, which for an unknown one is the name, as in Unleash. */
function sortColumnOf(sortBy: string | undefined): SortColumn {
  return Object.keys(sortColumns).find((column): column is SortColumn => column === sortBy) ?? 'appName';
}

/** SQL: how many instances the application `a` has where it uses visible projects, and their SDKs. */
function runningSdks(hidden: string): string {
  return `
  select coalesce(sum(instances), 0) as instances, coalesce(json_agg(json_build_object(
      'sdkVersion', used_sdk, 'instances', instances, 'isOutdated', ${isOutdated('used_sdk')}) order by instances desc, used_sdk)
    filter (where used_sdk is not null), '[]') as sdks
  from (
    select i.sdk_version as used_sdk, count(*) as instances from client_instance i
    where i.app_name = a.app_name and i.environment in (
      select environment from client_application_usage
      where app_name = a.app_name and project <> all (${hidden}::text[]))
    group by i.sdk_version) as by_sdk`;
}

function all(sortBy: SortColumn, sortOrder: 'asc' | 'desc'): Statement {
  return prepared(`
    with ${newestSdks}, found as materialized (
      select a.app_name, row_number() over (order by ${sortColumns[sortBy]} ${sortOrder}, a.app_name) as position
      from client_application a
      where not ${isUsedOnlyInSql('$1')} and ($2::text is null or position(lower($2) in lower(a.app_name)) > 0)
    )
    select json_build_object(
      'applications', coalesce((
        select json_agg(json_build_object('appName', a.app_name, 'sdkVersion', a.sdk_version, 'strategies', a.strategies, ${descriptionMembers},
          'project', used_in.project, 'environment', used_in.first, 'usage', ${usageJson('$1')},
          'instances', running.instances, 'sdks', running.sdks) order by found.position)
        from found join client_application a using (app_name)
        left join lateral (select project, first from (${usageOf('$1')}) as used order by project limit 1) as used_in on true
        cross join lateral (${runningSdks('$1')}) as running
        where found.position > $3::integer and found.position <= $3::integer + $4::integer), '[]'),
      'total', (select count(*) from found))::text as json`);
}

const instanceJson = `'instanceId', i.instance_id, 'sdkVersion', i.sdk_version, 'lastSeen', ${timestampSql('i.last_seen_at')}`;

const one = prepared(`
  select json_build_object('appName', a.app_name, 'sdkVersion', a.sdk_version, ${descriptionMembers},
    'strategies', coalesce((
      select json_agg(case when type.name is null then json_build_object('name', used_type.name,
          case when ${isBuiltIntoSdksSql('used_type.name')} then 'deprecated' else 'notFound' end, true)
        else json_build_object('name', type.name, 'description', type.description, 'deprecated', type.deprecated) end order by used_type.position)
      from jsonb_array_elements_text(a.strategies) with ordinality as used_type (name, position)
      left join strategy_type type on type.name = used_type.name), '[]'),
    'instances', coalesce((
      select json_agg(json_build_object('appName', i.app_name, ${instanceJson}, 'environment', i.environment,
        'createdAt', ${timestampSql('i.created_at')}) order by i.last_seen_at desc, i.environment, i.instance_id)
      from (select * from client_instance where app_name = a.app_name order by last_seen_at desc limit 1000) as i), '[]'),
    'seenToggles', coalesce((
      select json_agg(json order by name) from (
        select name, json_build_object('name', name, 'project', project, 'type', type, 'description', description, 'stale', stale) as json
        from (select distinct f.name, f.project, f.type, f.description, f.stale
          from feature_usage_hour counted join feature f on f.name = counted.feature
          where counted.app_name = a.app_name and f.project <> all ($2::text[])) as seen
        union all
        select feature, json_build_object('name', feature, 'notFound', true)
        from (select distinct m.feature from client_missing_feature m where m.app_name = a.app_name and ${isFeatureMissingSql('$2')}) as missing
      ) as toggles), '[]'),
    'usage', ${usageJson('$2')},
    'links', json_build_object('self', '/api/applications/' || a.app_name))::text as json
  ${fromVisible}`);

const overview = prepared(`
  with ${newestSdks}
  select json_build_object(
    'projects', coalesce((
      select json_agg(distinct f.project order by f.project) from feature_usage_hour counted join feature f on f.name = counted.feature
      where counted.app_name = a.app_name and f.project <> all ($2::text[])), '[]'),
    'featureCount', (
      select count(distinct f.name) from feature_usage_hour counted join feature f on f.name = counted.feature
      where counted.app_name = a.app_name and f.project <> all ($2::text[])),
    'environments', coalesce((
      select json_agg(json_build_object('name', used_in.environment, 'instanceCount', running.instances, 'sdks', running.sdks,
        'lastSeen', ${timestampSql('greatest(running.last_seen_at, counted.hour)')},
        'issues', json_build_object(
          'missingFeatures', coalesce((
            select json_agg(m.feature order by m.feature) from client_missing_feature m
            where m.app_name = a.app_name and m.environment = used_in.environment and ${isFeatureMissingSql('$2')}), '[]'),
          'outdatedSdks', running.outdated)) order by used_in.environment)
      from (
        select distinct environment from client_application_usage
        where app_name = a.app_name and project <> all ($2::text[])) as used_in
      cross join lateral (
        select count(*) as instances, max(i.last_seen_at) as last_seen_at,
          coalesce(json_agg(distinct i.sdk_version order by i.sdk_version) filter (where i.sdk_version is not null), '[]') as sdks,
          coalesce(json_agg(distinct i.sdk_version order by i.sdk_version)
            filter (where i.sdk_version is not null and ${isOutdated('i.sdk_version')}), '[]') as outdated
        from client_instance i where i.app_name = a.app_name and i.environment = used_in.environment) as running
      cross join lateral (
        select max(hour) as hour from feature_usage_hour
        where app_name = a.app_name and environment = used_in.environment) as counted), '[]'),
    'issues', json_build_object('missingStrategies', coalesce((
      select json_agg(distinct used_type.name order by used_type.name) from jsonb_array_elements_text(a.strategies) as used_type (name)
      where not ${isBuiltIntoSdksSql('used_type.name')}
        and not exists (select from strategy_type type where type.name = used_type.name)), '[]')))::text as json
  ${fromVisible}`);

const instances = prepared(`
  select json_build_object('instances', coalesce((
    select json_agg(json_build_object(${instanceJson}) order by i.last_seen_at desc, i.instance_id)
    from (
      select * from client_instance where app_name = a.app_name and environment = $3
      order by last_seen_at desc limit 1000) as i), '[]'))::text as json
  ${fromVisible}`);

/** SQL: the applications and environments that use the project `$1`, by their tokens or by evaluating its features. */
const usedEnvironmentsOfProject = `used_in as materialized (
  select app_name, environment from client_application_usage where project = $1
  union
  select counted.app_name, counted.environment
  from feature f join feature_usage_hour counted on counted.feature = f.name
  join client_application a on a.app_name = counted.app_name
  where f.project = $1)`;

function ofProject(sortOrder: 'asc' | 'desc'): Statement {
  return prepared(`
    with ${usedEnvironmentsOfProject}, found as materialized (
      select app_name, json_agg(environment order by environment) as environments,
        row_number() over (order by app_name ${sortOrder}) as position
      from used_in
      group by app_name
      having $2::text is null or position(lower($2) in lower(app_name)) > 0
        or bool_or(position(lower($2) in lower(environment)) > 0)
        or exists (
          select from client_instance i
          where i.app_name = used_in.app_name and position(lower($2) in lower(i.sdk_version)) > 0
            and i.environment = any (array_agg(used_in.environment)))
    )
    select json_build_object(
      'applications', coalesce((
        select json_agg(json_build_object('name', found.app_name, 'environments', found.environments,
          'instances', coalesce((
            select json_agg(instance_id order by last_seen_at desc, instance_id)
            from (
              select i.instance_id, max(i.last_seen_at) as last_seen_at from client_instance i join used_in using (app_name, environment)
              where i.app_name = found.app_name group by i.instance_id order by 2 desc limit 100) as running), '[]'),
          'sdks', coalesce((
            select json_agg(json_build_object('name', sdk, 'versions', versions) order by sdk)
            from (
              select ${nameOf('i.sdk_version')} as sdk,
                json_agg(distinct substring(i.sdk_version from length(${nameOf('i.sdk_version')}) + 2)) as versions
              from client_instance i join used_in using (app_name, environment)
              where i.app_name = found.app_name and i.sdk_version is not null group by 1) as used), '[]'))
          order by found.position)
        from found where found.position > $3::integer and found.position <= $3::integer + $4::integer), '[]'),
      'total', (select count(*) from found))::text as json
    from project p where p.id = $1 and p.archived_at is null`);
}

const outdatedSdks = prepared(`
  with ${usedEnvironmentsOfProject}, ${newestSdks}
  select json_build_object('sdks', coalesce((
    select json_agg(json_build_object('sdkVersion', sdk_version, 'applications', applications) order by sdk_version)
    from (
      select i.sdk_version, json_agg(distinct i.app_name order by i.app_name) as applications
      from client_instance i join used_in using (app_name, environment)
      where i.sdk_version is not null and ${isOutdated('i.sdk_version')} group by i.sdk_version) as outdated), '[]'))::text as json
  from project p where p.id = $1 and p.archived_at is null`);

const defaultPageSize = 1_000;
const defaultPageSizeOfProject = 50;

/** Reads applications, as JSON, in one statement each. Applications that are used only in hidden projects are left out. */
export function applicationReader(database: ReadDatabase) {
  const readJsonOrRefuse = async (
    statement: Statement,
    values: readonly unknown[],
    refusalIfMissing?: () => Refusal,
  ): Promise<string> => {
    const [row] = await database.read<{ json: string }>(statement, values);
    if (row === undefined) throw refusalIfMissing?.() ?? new Error(`The statement ${statement.text} returned no row.`);
    return row.json;
  };

  return {
    all: (
      { query, sortBy, sortOrder = 'asc', offset = 0, limit = defaultPageSize }: ApplicationsQuery,
      hidden: readonly string[],
    ): Promise<string> =>
      readJsonOrRefuse(all(sortColumnOf(sortBy), sortOrder), [hidden, query ?? null, offset, limit]),
    one: (appName: string, hidden: readonly string[]): Promise<string> =>
      readJsonOrRefuse(one, [appName, hidden], () => applicationNotFound(appName)),
    overview: (appName: string, hidden: readonly string[]): Promise<string> =>
      readJsonOrRefuse(overview, [appName, hidden], () => applicationNotFound(appName)),
    instances: (appName: string, environment: string, hidden: readonly string[]): Promise<string> =>
      readJsonOrRefuse(instances, [appName, hidden, environment], () => applicationNotFound(appName)),
    ofProject: (
      project: string,
      { query, sortOrder = 'asc', offset = 0, limit = defaultPageSizeOfProject }: ProjectApplicationsQuery,
    ): Promise<string> =>
      readJsonOrRefuse(ofProject(sortOrder), [project, query ?? null, offset, limit], () => noProjectFound(project)),
    outdatedSdksOf: (project: string): Promise<string> =>
      readJsonOrRefuse(outdatedSdks, [project], () => noProjectFound(project)),
  };
}
