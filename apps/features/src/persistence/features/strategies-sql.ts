/** SQL: the strategies of active features as a sorted JSON array. `features` is a condition on the row `f`, `holds` one on `strategy`. */
export const strategiesWhereSql = (features: string, holds: string): string => `coalesce((
  select json_agg(json_build_object('id', strategy ->> 'id', 'projectId', f.project, 'featureName', f.name,
    'strategyName', strategy ->> 'name', 'environment', environment) order by f.name, environment, nth)
  from feature f, jsonb_each(f.environments) as environments (environment, it),
    jsonb_array_elements(it -> 'strategies') with ordinality as listed (strategy, nth)
  where ${features} and f.archived_at is null and ${holds}), '[]')`;
