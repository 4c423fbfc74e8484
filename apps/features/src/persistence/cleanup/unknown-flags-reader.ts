import type { UnknownFlagsQuery } from '@bunting/contracts';
import { type ReadDatabase, type Statement, timestampSql } from '@bunting/database';
import { isFeatureMissingSql, isUsedOnlyInSql } from '../usage/application-conditions-sql.ts';
import { readJson } from '../sql/read-json.ts';

/** `$1` hidden projects, `$2` a project or null. */
const unknownFlags: Statement = {
  name: 'unknown-flags',
  text: `
    with missing as (
      select m.* from client_missing_feature m
      where ${isFeatureMissingSql('$1')} and not exists (select from client_application a where a.app_name = m.app_name and ${isUsedOnlyInSql('$1')})
        and ($2::text is null or exists (
          select from client_application_usage used where used.app_name = m.app_name
            and (used.project = '*' or used.project = $2 and used.project <> all ($1::text[]))))
    ), latest as (
      select feature, max(last_seen_at) as seen_at from missing group by feature order by 2 desc, 1 limit 1000
    )
    select json_build_object('unknownFlags', coalesce((
      select json_agg(json_build_object('name', latest.feature, 'lastSeenAt', ${timestampSql('latest.seen_at')}, 'reports', (
        select json_agg(json_build_object('appName', app_name, 'environments', environments) order by app_name) from (
          select m.app_name, json_agg(json_build_object('environment', m.environment, 'seenAt', ${timestampSql('m.last_seen_at')})
            order by m.environment) as environments
          from missing m where m.feature = latest.feature group by m.app_name) as by_application)) order by latest.seen_at desc, latest.feature)
      from latest), '[]'))::text as json`,
};

/** Reads the names that applications have reported and that no active feature of their projects has, as JSON, in one statement. */
export const unknownFlagsReader =
  (database: ReadDatabase) =>
  ({ project }: UnknownFlagsQuery, hidden: readonly string[]): Promise<string> =>
    readJson(database, unknownFlags, [hidden, project ?? null]);
