/** SQL: whether all uses of the application in the row `a` are in the given projects, and there is at least one. */
export const isUsedOnlyInSql = (projects: string): string => `(
  exists (select from client_application_usage used where used.app_name = a.app_name) and not exists (
    select from client_application_usage used where used.app_name = a.app_name and used.project <> all (${projects}::text[])))`;

/** SQL: whether the feature in the row `m` is missing: not active in a project of the application's tokens, and not in a hidden project. */
export const isFeatureMissingSql = (hidden: string, row = 'm'): string => `not exists (
  select from feature f where f.name = ${row}.feature and (f.project = any (${hidden}::text[]) or f.archived_at is null and exists (
    select from client_application_usage used where used.app_name = ${row}.app_name and used.project in ('*', f.project))))
  and not exists (
    select from unnest(${hidden}::text[]) as hidden (project) join outbox former
    on former.topic = 'delivery' and former.entity_key = 'former-feature:' || ${row}.feature || ' ' || hidden.project)`;
