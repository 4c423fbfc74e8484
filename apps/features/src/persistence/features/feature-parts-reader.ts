import { lifecycleStageOfMember, type Refusal } from '@bunting/contracts';
import { contentTag } from '@bunting/contracts/hashing';
import type { ReadDatabase, Statement } from '@bunting/database';
import { featureNotInEnvironment, featureWithoutEnvironment, strategyNotFound } from '../../domain/refusals.ts';
import { readRefusalOfMissingFeature } from './refusal-of-missing-feature.ts';
import { selectArchivedFeatures } from './feature-queries.ts';
import { emptyEnvironment } from '../../domain/features/feature-in-environment.ts';
import type { JsonWithEntityTag } from '../transactions/conditional-write.ts';
import { activeChildrenOf, activeChildrenOfAll } from '../sql/active-features.ts';
import { variantsSortedByName } from '../sql/json-sql.ts';
import { currentStage } from '../sql/lifecycle-stage.ts';
import { readJson } from '../sql/read-json.ts';

/** A feature by its project and name. */
export interface FeatureRef {
  readonly projectId: string;
  readonly featureName: string;
}

export interface FeatureEnvironmentRef extends FeatureRef {
  readonly environment: string;
}

/** A statement that reads a part of a feature: `$1` name, `$2` project. */
const featureStatement = (name: string, json: string): Statement => ({
  name,
  text: `select (${json})::text as json, f.edit_version::text as "editVersion" from feature f where f.name = $1 and f.project = $2`,
});

/** A statement that reads a part of the `settings` of a feature in the environment `$3`. */
const environmentStatement = (name: string, json: string): Statement => ({
  name,
  text: `
    select (${json})::text as json, settings as stored,
      exists (select from project_environment where project = f.project and environment = $3::text) as "isConnected"
    from feature f cross join lateral (select f.environments -> $3::text as settings) as in_environment
    where f.name = $1 and f.project = $2`,
});

const environment = environmentStatement(
  'feature-in-environment',
  `json_build_object('name', f.name, 'environment', $3::text, 'enabled', coalesce((settings -> 'enabled')::boolean, false),
    'strategies', coalesce((
      select json_agg(strategy || jsonb_build_object('featureName', f.name) order by ordinal)
      from jsonb_array_elements(settings -> 'strategies') with ordinality as listed (strategy, ordinal)), '[]'))`,
);
const strategies = environmentStatement('strategies-of-feature', `coalesce(settings -> 'strategies', '[]')`);
const environmentVariants = environmentStatement(
  'variants-in-environment',
  `json_build_object('version', 1, 'variants', ${variantsSortedByName(`settings -> 'variants'`)})`,
);

const strategy = featureStatement(
  'strategy',
  `select strategy from jsonb_array_elements(f.environments -> $3::text -> 'strategies') as strategy
   where strategy ->> 'id' = $4`,
);

const variants = featureStatement(
  'variants-of-feature',
  `json_build_object('version', 1, 'variants', coalesce((
    select ${variantsSortedByName(`f.environments -> e.name -> 'variants'`)}
    from project_environment connection join environment e on e.name = connection.environment
    where connection.project = f.project and jsonb_array_length(f.environments -> e.name -> 'variants') > 0
    order by e.sort_order, e.name limit 1), '[]'))`,
);

const lifecycle = featureStatement('lifecycle-of-feature', 'f.lifecycle');

const lifecycleCounts: Statement = {
  name: 'lifecycle-counts',
  text: `
    select json_build_object(${Object.entries(lifecycleStageOfMember)
      .map(([member, stage]) => `'${member}', count(*) filter (where stage = '${stage}')`)
      .join(', ')})::text as json
    from (
      select case when archived_at is not null then 'archived' else ${currentStage('feature')} ->> 'stage' end as stage
      from feature where project <> all ($1::text[])) as staged`,
};

/** A statement that lists names; the list is empty for a feature that does not exist. `$1` name, `$2` project. */
const namesFor = (name: string, names: string): Statement => ({
  name,
  text: `select coalesce((select (${names}) from feature f where f.name = $1 and f.project = $2), '[]')::text as json`,
});

const possibleParents = namesFor(
  'possible-parents',
  `select coalesce(json_agg(parent.name order by parent.name), '[]') from feature parent
   where parent.project = f.project and parent.archived_at is null and parent.name <> f.name and parent.parents = '{}'
     and not exists (select from ${activeChildrenOf('f.name')})`,
);

const variantNames = namesFor(
  'names-of-variants',
  `select coalesce(json_agg(name order by name), '[]') from (
     select variant ->> 'name' as name from jsonb_path_query(f.environments, '$.*.variants[*]') as variant
     union select variant ->> 'name' from jsonb_path_query(f.environments, '$.*.strategies[*].variants[*]') as variant
   ) as names`,
);

const anyDependencies: Statement = {
  name: 'any-dependencies',
  text: `select to_json(exists (select from feature where parents <> '{}'))::text as json`,
};

const archiveValidation: Statement = {
  name: 'archive-validation',
  text: `
    with named as (select name, parents from feature where name = any ($2::text[]) and project = $1)
    select json_build_object(
      'parentsWithChildFeatures', coalesce((
        select json_agg(distinct parent order by parent) from ${activeChildrenOfAll('array(select name from named)')}
          and child.name not in (select name from named)), '[]'),
      'hasDeletedDependencies', exists (select from named where parents <> '{}'))::text as json`,
};

const archived: Statement = { name: 'archived-features', text: selectArchivedFeatures };

/** The row of a `featureStatement`. */
interface FeatureRow<Json extends string | null = string> {
  readonly json: Json;
  readonly editVersion: string;
}

/** The row of an `environmentStatement`. */
interface EnvironmentRow {
  readonly json: string;
  /** the feature in the environment, as it is stored; null where it is off and empty */
  readonly stored: unknown;
  readonly isConnected: boolean;
}

/** Reads parts of features and lists of names, as JSON, in one statement each. */
export const featurePartsReader = (database: ReadDatabase) => {
  const read = (statement: Statement, values: readonly unknown[]): Promise<string> =>
    readJson(database, statement, values);

  const rowOf = async <Row>(statement: Statement, feature: FeatureRef, ...more: string[]): Promise<Row> => {
    const [row] = await database.read<Row>(statement, [feature.featureName, feature.projectId, ...more]);
    if (row === undefined) throw await readRefusalOfMissingFeature(database, feature);
    return row;
  };

  const readPartInEnvironment =
    (statement: Statement, refusalOfMissing: (feature: string, environment: string) => Refusal) =>
    async (feature: FeatureEnvironmentRef): Promise<JsonWithEntityTag> => {
      const { json, stored, isConnected } = await rowOf<EnvironmentRow>(statement, feature, feature.environment);
      if (!isConnected) throw refusalOfMissing(feature.featureName, feature.environment);
      return { json, tag: contentTag(stored ?? emptyEnvironment) };
    };

  return {
    environment: readPartInEnvironment(environment, featureNotInEnvironment),
    strategies: readPartInEnvironment(strategies, featureWithoutEnvironment),
    environmentVariants: readPartInEnvironment(environmentVariants, featureNotInEnvironment),
    strategy: async (ref: FeatureEnvironmentRef & { readonly strategyId: string }): Promise<JsonWithEntityTag> => {
      const { json } = await rowOf<FeatureRow<string | null>>(strategy, ref, ref.environment, ref.strategyId);
      if (json === null) throw strategyNotFound(ref.strategyId);
      return { json, tag: contentTag(JSON.parse(json)) };
    },
    /** The variants of the first environment that has variants. */
    variants: async (feature: FeatureRef): Promise<JsonWithEntityTag> => {
      const { json, editVersion } = await rowOf<FeatureRow>(variants, feature);
      return { json, tag: editVersion };
    },
    lifecycle: async (feature: FeatureRef): Promise<string> => (await rowOf<FeatureRow>(lifecycle, feature)).json,
    /** Counts features by lifecycle stage. */
    lifecycleCounts: (hidden: readonly string[]): Promise<string> => read(lifecycleCounts, [hidden]),
    possibleParents: ({ featureName, projectId }: FeatureRef): Promise<string> =>
      read(possibleParents, [featureName, projectId]),
    variantNames: ({ featureName, projectId }: FeatureRef): Promise<string> =>
      read(variantNames, [featureName, projectId]),
    anyDependencies: (): Promise<string> => read(anyDependencies, []),
    /** The dependencies that prevent features of a project from being archived. */
    archiveValidation: (project: string, names: readonly string[]): Promise<string> =>
      read(archiveValidation, [project, names]),
    /** The archived features of a project; null for those of all projects. */
    archived: (project: string | null, userId: number, hidden: readonly string[]): Promise<string> =>
      read(archived, [userId, project, hidden]),
  };
};
