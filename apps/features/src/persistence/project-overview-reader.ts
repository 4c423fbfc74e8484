import { notFound } from '@bunting/contracts';
import type { Database, Statement } from '@bunting/database';
import { named } from '../domain/refusals.ts';
import { featuresOfProject, moment } from './feature-json.ts';
import { orNull, withoutNulls } from './answered-json.ts';
import { type HeldProject, joinHeld, members, owners } from './held-projects.ts';

/** SQL: the overview of the project `$1`, with more members, for the user `$2`, by what `$3` says of who holds it. */
const overview = (...more: readonly string[]): string => `
  select ${withoutNulls(
    `'version': 1, 'name': p.name, 'description': p.description, 'mode': p.mode`,
    `'defaultStickiness': p.default_stickiness, 'featureLimit': ${orNull('p.feature_limit')}`,
    `'featureNaming': coalesce(p.feature_naming, '{"pattern": null, "example": null, "description": null}')`,
    `'health': case when counted.features = 0 then 100
      else round(100.0 * (counted.features - counted.stale) / counted.features) end`,
    `'favorite': exists (select from project_favorite where project = p.id and user_id = $2)`,
    `'members': ${members}, 'owners': ${owners}`,
    `'createdAt': ${moment('p.created_at')}, 'updatedAt': ${moment('coalesce(p.updated_at, p.created_at)')}`,
    `'archivedAt': ${moment('p.archived_at')}`,
    `'environments': coalesce((
      select json_agg(${withoutNulls(`'environment': e.name, 'defaultStrategy': connected.default_strategy`)}
        order by e.sort_order, e.name)
      from project_environment connected join environment e on e.name = connected.environment
      where connected.project = p.id), '[]')`,
    `'featureTypeCounts': coalesce((
      select json_agg(json_build_object('type', type, 'count', features) order by type)
      from (select type, count(*) as features from feature where project = p.id and archived_at is null group by type) as by_type), '[]')`,
    ...more,
  )}::text as json
  from project p
  cross join lateral (
    select count(*) as features, count(*) filter (where stale) as stale,
      count(*) filter (where potentially_stale and not stale) as outlived
    from feature where project = p.id and archived_at is null) as counted
  ${joinHeld('$3')}
  where p.id = $1`;

const withoutFeatures: Statement = { name: 'project-overview', text: overview() };
const features = `'features': (select listed.json::json -> 'features' from (${featuresOfProject()}) as listed)`;
const withFeatures: Statement = { name: 'project-with-features', text: overview(features) };
const withHealth: Statement = {
  name: 'project-health',
  text: overview(
    features,
    `'activeCount': counted.features - counted.stale, 'staleCount': counted.stale`,
    `'potentiallyStaleCount': counted.outlived`,
  ),
};
const creators: Statement = {
  name: 'flag-creators',
  text: `
    select coalesce((
      select json_agg(json_build_object('id', id, 'name', name) order by name, id) from (
        select distinct on (created_by_id) created_by_id as id, created_by_name as name from feature
        where project = p.id order by created_by_id, created_at desc) as creators), '[]')::text as json
    from project p where p.id = $1`,
};
const exists: Statement = { name: 'project-id', text: 'select from project where id = $1' };

/** Projects with what is in them, as JSON, for who only looks. */
export interface ProjectOverviewReader {
  overview(id: string, userId: number, held: readonly HeldProject[]): Promise<string>;
  withFeatures(id: string, userId: number, held: readonly HeldProject[]): Promise<string>;
  withHealth(id: string, userId: number, held: readonly HeldProject[]): Promise<string>;
  flagCreators(id: string): Promise<string>;
  isTaken(id: string): Promise<boolean>;
}

export const projectOverviewReader = (database: Database): ProjectOverviewReader => {
  const read = async (statement: Statement, id: string, ...more: unknown[]): Promise<string> => {
    const [row] = await database.read<{ json: string }>(statement, [id, ...more]);
    if (row === undefined) throw notFound(`No project found: ${named(id)}`);
    return row.json;
  };
  return {
    overview: (id, userId, held) => read(withoutFeatures, id, userId, JSON.stringify(held)),
    withFeatures: (id, userId, held) => read(withFeatures, id, userId, JSON.stringify(held)),
    withHealth: (id, userId, held) => read(withHealth, id, userId, JSON.stringify(held)),
    flagCreators: (id) => read(creators, id),
    isTaken: async (id) => (await database.read(exists, [id])).length > 0,
  };
};
