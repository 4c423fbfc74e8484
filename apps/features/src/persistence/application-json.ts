import { moment } from './feature-json.ts';

/** SQL: an application, the row `a`, as clients see it to whom the projects at that place are hidden. */
export const applicationJson = (hidden: string): string => `json_build_object(
  'appName', a.app_name, 'sdkVersion', a.sdk_version, 'strategies', a.strategies,
  'createdAt', ${moment('a.created_at')}, 'lastSeenAt', ${moment('a.last_seen_at')},
  'usage', coalesce((
    select json_agg(json_build_object('project', project, 'environments', environments) order by project)
    from (
      select project, json_agg(environment order by environment) as environments
      from client_application_usage 
      where app_name = a.app_name and project <> all (${hidden}::text[]) group by project) as by_project), '[]'))`;
