import type { UnknownFlagsQuery } from '@bunting/contracts';
import { type ReadDatabase, type Statement, timestampSql } from '@bunting/database';
import { isFeatureMissingSql, isUsedOnlyInSql } from '../applications/application-conditions-sql.ts';
import { readJson } from '../unit-of-work/read-json.ts';

const maxNames = 1_000;
const maxReports = 20_000;
const maxReportsOfName = 100;

/**
 * SQL: whether the report in a row is of a visible application, and its feature is missing. It is an expression, so that PostgreSQL looks
 * up the features of the rows that it reads, instead of joining all of them.
 */
const isShown = (row: string): string =>
  `case when ${row}.app_name in (select app_name from visible) then ${isFeatureMissingSql('$1', row)} else false end`;

/**
 * `$1` hidden projects, `$2` a project or null. Reports are read from the latest on until there are enough names, each name by its latest
 * report: at most `maxReports`, so that any number of applications that ask for the same names cannot make it slow. The statement has no name: a plan that was made while few reports were stored would be kept for many.
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
      json_agg(json_build_object('name', latest.feature, 'lastSeenAt', ${timestampSql('latest.last_seen_at')}, 'reports', by_feature.reports)
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
export const unknownFlagsReader =
  (database: ReadDatabase) =>
  ({ project }: UnknownFlagsQuery, hidden: readonly string[]): Promise<string> =>
    readJson(database, unknownFlags, [hidden, project ?? null]);
