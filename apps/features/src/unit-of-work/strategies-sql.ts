/**
 * SQL: the strategies of active features as a sorted JSON array.
 * @param ofFeature a condition on the feature `f`
 * @param ofStrategy a condition on the JSON `strategy`
 */
export const strategiesWhereSql = (ofFeature: string, ofStrategy: string): string => `coalesce((
  select json_agg(json_build_object('id', strategy ->> 'id', 'projectId', f.project, 'featureName', f.name,
    'strategyName', strategy ->> 'name', 'environment', environment) order by f.name, environment, ordinal)
  from feature f, jsonb_each(f.environments) as environments (environment, settings),
    jsonb_array_elements(settings -> 'strategies') with ordinality as listed (strategy, ordinal)
  where ${ofFeature} and f.archived_at is null and ${ofStrategy}), '[]')`;
