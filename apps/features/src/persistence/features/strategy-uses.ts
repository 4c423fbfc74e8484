/** SQL: the strategies of active features, of the rows of `feature f`, for which something holds of `strategy`; in their order. */
export const strategiesWhere = (features: string, holds: string): string => `coalesce((
  select json_agg(json_build_object('id', strategy ->> 'id', 'projectId', f.project, 'featureName', f.name,
    'strategyName', strategy ->> 'name', 'environment', environment) order by f.name, environment, place)
  from feature f, jsonb_each(f.environments) as environments (environment, it),
    jsonb_array_elements(it -> 'strategies') with ordinality as listed (strategy, place)
  where ${features} and f.archived_at is null and ${holds}), '[]')`;
