import { type CleanupCountsQuery, type CleanupQuery, cleanupReasons, type UnknownFlagsQuery } from '@bunting/contracts';
import { prepared, type ReadDatabase, type Statement, timestampSql } from '@bunting/database';
import { isFeatureMissingSql, isUsedOnlyInSql } from '../applications/application-store.ts';
import { activeChildrenOf } from '../unit-of-work/feature-sql.ts';
import { readJson } from '../unit-of-work/sql.ts';

const defaultDays = 30;
const defaultPageSize = 100;

/** JSONPath: the active strategies of a feature in an environment that are on for every user. */
const allUsers = `$.strategies[*] ? (@.disabled == false && @.constraints.size() == 0 && @.segments.size() == 0 && (
  @.name == "default" || @.name == "flexibleRollout" && (!exists(@.parameters.rollout) || @.parameters.rollout == "100")
  || @.name starts with "gradualRollout" && @.parameters.percentage == "100"))`;

/** JSONPath: a feature in an environment with several variants, of which users get different ones. */
const severalVariants = `$ ? (@.variants.size() > 1 || exists(@.strategies[*] ? (@.variants.size() > 1)))`;

const since = 'now() - make_interval(days => $3::integer)';

/**
 * SQL: whether the feature `f` is on for every user in each environment of production. It reads complete JSON documents, so other
 * conditions are tested first.
 */
const isOnForAll = `(
  select coalesce(bool_and((f.environments #>> array[e.name, 'enabled'])::boolean is true
    and f.environments -> e.name @? '${allUsers}' and not f.environments -> e.name @? '${severalVariants}'), false)
  from project_environment c join environment e on e.name = c.environment
  where c.project = f.project and e.type = 'production' and e.enabled)`;

/** SQL: whether the feature `f` is on in an environment. */
const isOn = `exists (
  select from project_environment c where c.project = f.project and (f.environments #>> array[c.environment, 'enabled'])::boolean)`;

const usageColumns = `max(seen.last_seen_at) as seen_at, max(seen.last_yes_at) as yes_at,
  max(seen.last_no_at) filter (where e.type = 'production') as no_at`;
const usageTables = 'feature_seen seen join environment e on e.name = seen.environment';

/** SQL to join to `f`: its usage. `ofFew` is for statements that read a few features, `ofAll` for those that read all. */
const usage = {
  ofFew: `cross join lateral (select ${usageColumns} from ${usageTables} where seen.feature = f.name) as use`,
  ofAll: `left join (select seen.feature, ${usageColumns} from ${usageTables} group by seen.feature) as use on use.feature = f.name`,
};

/**
 * SQL: features `f` with the `reasons` to clean them up, an array that may be empty. `$1` hidden projects, `$2` a project or null, `$3`
 * days. A feature that depends on others, or that has several variants, is not on for all users. `offset 0` keeps PostgreSQL from inlining
 * the reasons at each of their uses, and from computing them as often.
 */
function withReasons(joinUsage: string): string {
  return `
  feature f ${joinUsage}
  cross join lateral (select array_remove(array[
    case when f.stale then 'stale' end,
    case when f.potentially_stale and not f.stale then 'potentiallyStale' end,
    case when f.parents = '{}' and f.production_at < ${since} and coalesce(use.no_at, '-infinity') < ${since}
      then case when ${isOnForAll} then 'allOn' end end,
    case when f.created_at < ${since} and coalesce(use.yes_at, '-infinity') < ${since}
      then case when not ${isOn} then 'allOff' end end,
    case when use.seen_at < ${since} then 'notSeen' end,
    case when use.seen_at is null and f.created_at < ${since} then 'neverSeen' end
  ], null) as reasons offset 0) as found`;
}

const isInScope = `f.archived_at is null and f.project <> all ($1::text[]) and ($2::text is null or f.project = $2)`;

const counts = prepared(`
  select json_build_object('all', count(*) filter (where reasons <> '{}'),
    ${cleanupReasons.map((reason) => `'${reason}', count(*) filter (where '${reason}' = any (reasons))`).join(', ')})::text as json
  from ${withReasons(usage.ofAll)} where ${isInScope}`);

/** `$4` a reason or null, `$5` a text in names or null, `$6` the last name before the page or null, `$7` the features of a page. */
const page = prepared(`
  with page as materialized (
    select f.*, reasons, row_number() over (order by f.name) as page_position from ${withReasons(usage.ofFew)}
    where ${isInScope} and case when $4::text is null then reasons <> '{}' else $4 = any (reasons) end
      and ($5::text is null or position(lower($5) in lower(f.name)) > 0) and ($6::text is null or f.name > $6)
    order by f.name limit $7::integer + 1
  )
  select json_build_object(
    'features', coalesce((
      select json_agg(json_build_object('name', f.name, 'project', f.project, 'type', f.type, 'description', f.description,
        'createdAt', ${timestampSql('f.created_at')}, 'createdBy', f.created_by_name, 'reasons', f.reasons,
        'environments', coalesce((
          select json_agg(json_build_object('name', e.name, 'enabled', coalesce((f.environments -> e.name -> 'enabled')::boolean, false),
            'lastSeenAt', ${timestampSql('seen.last_seen_at')}) order by e.sort_order, e.name)
          from project_environment c join environment e on e.name = c.environment
          left join feature_seen seen on seen.feature = f.name and seen.environment = e.name
          where c.project = f.project), '[]'),
        'neededBy', coalesce((
          select json_agg(name order by name) from (
            select child.name from ${activeChildrenOf('f.name')}
              and child.project <> all ($1::text[])
            order by child.name limit 100) as children), '[]')) order by f.page_position)
      from page f where f.page_position <= $7::integer), '[]'),
    'next', (select name from page where page_position = $7::integer and exists (select from page where page_position > $7::integer)))::text as json`);

/** Reads features that may be no longer needed, as JSON, in one statement each. */
export function cleanupCandidatesReader(database: ReadDatabase) {
  return {
    /** The number of features of each reason. */
    counts: ({ project, days = defaultDays }: CleanupCountsQuery, hidden: readonly string[]) =>
      readJson(database, counts, [hidden, project ?? null, days]),
    /** A page of features that have the given reason, or any reason. */
    page: (
      { project, days = defaultDays, reason, query, after, limit = defaultPageSize }: CleanupQuery,
      hidden: readonly string[],
    ) => readJson(database, page, [hidden, project ?? null, days, reason ?? null, query ?? null, after ?? null, limit]),
  };
}

const maxNames = 1_000;
const maxReports = 20_000;
const maxReportsOfName = 100;

/**
 * SQL: whether the report in a row is of a visible application, and its feature is missing. It is an expression, so that PostgreSQL looks
 * up the features of the rows that it reads, instead of joining all of them.
 */
function isShown(row: string): string {
  return `case when ${row}.app_name in (select app_name from visible) then ${isFeatureMissingSql('$1', row)} else false end`;
}

/**
 * `$1` hidden projects, `$2` a project or null. Reports are read from the latest on until there are enough names, each name by its latest
 * report: at most `maxReports`, so that any number of applications that ask for the same names cannot make it slow. The statement is not prepared: a plan that was made while few reports were stored would be kept for many.
 */
const unknownFlags: Statement = {
  text: `
    with visible as materialized (
      select a.app_name from client_application a
      where not ${isUsedOnlyInSql('$1')} and ($2::text is null or exists (
        select from client_application_usage used where used.app_name = a.app_name
          and (used.project = '*' or used.project = $2 and used.project <> all ($1::text[]))))
    ), latest as materialized (
      select m.feature, m.last_seen_at
      from (select * from client_missing_feature order by last_seen_at desc limit ${maxReports}) as m
      where ${isShown('m')} and not exists (
        select from client_missing_feature newer
        where newer.feature = m.feature and (newer.last_seen_at, newer.app_name, newer.environment) > (m.last_seen_at, m.app_name, m.environment)
          and ${isShown('newer')})
      order by m.last_seen_at desc, m.feature limit ${maxNames}
    )
    select json_build_object('unknownFlags', coalesce(
      json_agg(json_build_object('name', latest.feature, 'lastSeenAt', ${timestampSql('latest.last_seen_at')},
        'archivedIn', (select f.project from feature f
          where f.name = latest.feature and f.archived_at is not null and f.project <> all ($1::text[])),
        'reports', by_feature.reports)
        order by latest.last_seen_at desc, latest.feature), '[]'))::text as json
    from latest cross join lateral (
      select json_agg(json_build_object('appName', app_name, 'environments', environments) order by app_name) as reports
      from (
        select m.app_name,
          json_agg(json_build_object('environment', m.environment, 'seenAt', ${timestampSql('m.last_seen_at')}) order by m.environment) as environments
        from (
          select * from client_missing_feature m where m.feature = latest.feature and ${isShown('m')}
          order by m.last_seen_at desc limit ${maxReportsOfName}) as m
        group by m.app_name) as by_application) as by_feature`,
};

/** Reads the names that applications have reported and that no active feature of their projects has, as JSON, in one statement. */
export function unknownFlagsReader(database: ReadDatabase) {
  return ({ project }: UnknownFlagsQuery, hidden: readonly string[]): Promise<string> =>
    readJson(database, unknownFlags, [hidden, project ?? null]);
}
