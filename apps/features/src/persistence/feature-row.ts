import { type Constraint, imageUrlOf } from '@bunting/contracts';
import type { Feature, Person } from '../domain/feature.ts';
import { moment } from './feature-json.ts';

// Between a row of `feature` and the feature that the domain knows.

/** SQL: the row `f` as a feature, in one JSON document. */
export const featureJson = `json_build_object(
  'name', f.name, 'project', f.project, 'type', f.type, 'description', f.description, 'stale', f.stale,
  'impressionData', f.impression_data, 'createdAt', ${moment('f.created_at')},
  'createdBy', json_build_object('id', f.created_by_id, 'name', f.created_by_name),
  'archivedAt', ${moment('f.archived_at')}, 'environments', f.environments, 'tags', f.tags,
  'dependencies', f.dependencies, 'lifecycle', f.lifecycle, 'links', f.links, 'collaborators', f.collaborators)`;

/** What `featureJson` makes: collaborators come with their pictures, which are made once, at writing. */
export type FeatureJson = Omit<Feature, 'collaborators'> & {
  readonly collaborators: readonly (Person & { readonly imageUrl: string })[];
};

export const featureOf = (json: FeatureJson): Feature => ({
  ...json,
  collaborators: json.collaborators.map(({ id, name }) => ({ id, name })),
});

const unique = <T extends string | number>(values: readonly T[]): T[] => [...new Set(values)];

/** The row of a feature. The last four columns only repeat what the documents hold, for look-ups. */
const rowOf = (feature: Feature): Readonly<Record<keyof typeof columns, unknown>> => {
  const strategies = Object.values(feature.environments).flatMap((environment) => environment.strategies);
  const constraints: readonly Constraint[] = strategies.flatMap((strategy) => strategy.constraints);
  return {
    name: feature.name,
    project: feature.project,
    type: feature.type,
    description: feature.description,
    stale: feature.stale,
    impression_data: feature.impressionData,
    created_at: feature.createdAt,
    created_by_id: feature.createdBy.id,
    created_by_name: feature.createdBy.name,
    archived_at: feature.archivedAt,
    environments: feature.environments,
    tags: feature.tags,
    dependencies: feature.dependencies,
    lifecycle: feature.lifecycle,
    links: feature.links,
    collaborators: feature.collaborators.map(({ id, name }) => ({ id, name, imageUrl: imageUrlOf(name) })),
    strategy_ids: unique(strategies.map(({ id }) => id)),
    segment_ids: unique(strategies.flatMap(({ segments }) => segments)),
    context_names: unique(constraints.map(({ contextName }) => contextName)),
    parents: unique(feature.dependencies.map((dependency) => dependency.feature)),
  };
};

const columns = {
  name: 'text',
  project: 'text',
  type: 'text',
  description: 'text',
  stale: 'boolean',
  impression_data: 'boolean',
  created_at: 'timestamptz',
  created_by_id: 'integer',
  created_by_name: 'text',
  archived_at: 'timestamptz',
  environments: 'jsonb',
  tags: 'jsonb',
  dependencies: 'jsonb',
  lifecycle: 'jsonb',
  links: 'jsonb',
  collaborators: 'jsonb',
  strategy_ids: 'text[]',
  segment_ids: 'integer[]',
  context_names: 'text[]',
  parents: 'text[]',
} as const;

const names = Object.keys(columns);
const given = `json_to_recordset($1::json) as given (${Object.entries(columns)
  .map(([name, type]) => `${name} ${type}`)
  .join(', ')})`;

/** The one parameter of the statements below: features as rows. */
export const rowsOf = (features: readonly Feature[]): string => JSON.stringify(features.map(rowOf));

/** SQL: whether the feature `given` is enabled in an environment of type production. */
const inProduction = `exists (
    select from environment e where e.type = 'production' and (given.environments -> e.name -> 'enabled')::boolean)`;

/** Stores features that are new. Where there was one of that name, the versions of the new one follow those of that. */
export const insertFeatures = `
  insert into feature (${names.join(', ')}, production_at, version, edition)
  select ${names.map((name) => `given.${name}`).join(', ')}, case when ${inProduction} then now() end,
    coalesce(deleted_feature.version, 0) + 1,
    coalesce(deleted_feature.version, 0) + 1
  from ${given} left join deleted_feature on deleted_feature.name = given.name returning *`;

/** Stores what became of features that are there. */
export const updateFeatures = `
  update feature set (${names.join(', ')}, production_at, version, edition) = row (
    ${names.map((name) => `given.${name}`).join(', ')},
    case when feature.production_at is null and ${inProduction} then now() else feature.production_at end,
    feature.version + 1, feature.version + 1)
  from ${given} where feature.name = given.name returning feature.*`;
