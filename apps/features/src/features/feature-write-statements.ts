import type { Constraint } from '@bunting/contracts';
import { type Feature, strategiesOf } from './feature.ts';
import { FeatureEntity, sql } from '../unit-of-work/entities.ts';

const unique = <T extends string | number>(values: readonly T[]): T[] => [...new Set(values)];

/** The row of a feature. Its last four columns repeat parts of the JSON documents, for look-ups by index. */
const rowOf = (feature: Feature): Readonly<Record<string, unknown>> => {
  const strategies = strategiesOf(feature);
  const constraints: readonly Constraint[] = strategies.flatMap((strategy) => strategy.constraints);
  return sql.rowOf(FeatureEntity, {
    ...feature,
    strategyIds: unique(strategies.map(({ id }) => id)),
    segmentIds: unique(strategies.flatMap(({ segments }) => segments)),
    contextNames: unique(constraints.map(({ contextName }) => contextName)),
    parents: unique(feature.dependencies.map((dependency) => dependency.feature)),
  });
};

/** Columns that the statements below compute or leave unchanged. */
const computed = sql.columnsOf(FeatureEntity, ['productionAt', 'potentiallyStale', 'version', 'editVersion']);
const names = sql.columnsOf(FeatureEntity).filter((name) => !computed.includes(name));
const newRows = 'json_populate_recordset(null::feature, $1::json) as new_row';

/** The one parameter of the statements below: features as rows. */
export const rowsOf = (features: readonly Feature[]): string => JSON.stringify(features.map(rowOf));

/** SQL: whether the feature `new_row` is enabled in an environment of type `production`. */
const inProduction = `exists (
    select from environment e where e.type = 'production' and (new_row.environments -> e.name -> 'enabled')::boolean)`;

/** Inserts features. The versions of a feature continue those of a deleted feature with the same name. */
export const insertFeaturesSql = `
  insert into feature (${names.join(', ')}, production_at, version, edit_version)
  select ${names.map((name) => `new_row.${name}`).join(', ')}, case when ${inProduction} then now() end,
    coalesce(deleted_feature.version, 0) + 1,
    coalesce(deleted_feature.version, 0) + 1
  from ${newRows} left join deleted_feature on deleted_feature.name = new_row.name returning *`;

/** Updates features that exist. */
export const updateFeaturesSql = `
  update feature set (${names.join(', ')}, production_at, version, edit_version) = row (
    ${names.map((name) => `new_row.${name}`).join(', ')},
    case when feature.production_at is null and ${inProduction} then now() else feature.production_at end,
    feature.version + 1, feature.version + 1)
  from ${newRows} where feature.name = new_row.name returning feature.*`;
