import type { PageParameters, Refusal, Tag } from '@bunting/contracts';
import { contentTag } from '@bunting/contracts/hashing';
import { batchedRead, prepared, type ReadDatabase, type Statement } from '@bunting/database';
import {
  featureNotFound,
  featureNotInEnvironment,
  featureWithoutEnvironment,
  noProjectFound,
  strategyNotFound,
} from '../refusals.ts';
import {
  activeChildrenOfAll,
  selectArchivedFeatures,
  selectDetailedFeatures,
  selectFeaturesOfProject,
  tagAndNamePrefixCondition,
} from '../unit-of-work/feature-sql.ts';
import type { JsonWithEntityTag } from '../unit-of-work/if-match.ts';
import { readJson, variantsSortedByName } from '../unit-of-work/sql.ts';
import { readRefusalOfMissingFeature } from './feature-store.ts';
import { emptyEnvironment } from './feature.ts';

/** Selects features that have any of the tags and whose name begins with the prefix, ignoring case. */
export interface FeatureListFilter extends PageParameters {
  readonly tags?: readonly Tag[] | undefined;
  readonly namePrefix?: string | undefined;
}

const detailed = prepared(selectDetailedFeatures(false));
const detailedWithVariants = prepared(selectDetailedFeatures(true));
const ofProject = prepared(selectFeaturesOfProject(tagAndNamePrefixCondition));

const pageOfProject = prepared(selectFeaturesOfProject(tagAndNamePrefixCondition, 'limit $5::int offset $6::int'));

const tags =
  prepared(`select json_build_object('version', 1, 'tags', tags)::text as json, edit_version::text as tag from feature
  where name = $1 and project <> all ($2::text[])`);

/** Reads features outside of transactions, as JSON that PostgreSQL builds, in one statement each. */
export function featureReader(database: ReadDatabase) {
  const readWithoutVariants = batchedRead<[name: string, project: string, userId: number], JsonWithEntityTag>(
    database,
    detailed,
  );
  const readWithVariants = batchedRead<[name: string, project: string, userId: number], JsonWithEntityTag>(
    database,
    detailedWithVariants,
  );

  return {
    /** A feature with the favourite mark of a user, in one batch with concurrent reads. */
    one: async (feature: FeatureRef, userId: number, withVariants: boolean): Promise<JsonWithEntityTag> => {
      const read = withVariants ? readWithVariants : readWithoutVariants;
      const found = await read(feature.featureName, feature.projectId, userId);
      if (found === undefined) throw await readRefusalOfMissingFeature(database, feature);
      return found;
    },

    ofProject: (
      project: string,
      userId: number,
      { tags: requestedTags, namePrefix = '', limit, offset = 0 }: FeatureListFilter,
    ): Promise<string> => {
      const documents = requestedTags?.map((tag) => JSON.stringify([tag])) ?? null;
      const values = [project, userId, documents, namePrefix.toLowerCase()];
      const isUnpaged = limit === undefined && offset === 0;
      return isUnpaged
        ? readJson(database, ofProject, values)
        : readJson(database, pageOfProject, [...values, limit ?? null, offset]);
    },

    tagsOf: async (name: string, hidden: readonly string[]): Promise<JsonWithEntityTag> => {
      const [found] = await database.read<JsonWithEntityTag>(tags, [name, hidden]);
      if (found === undefined) throw featureNotFound(name);
      return found;
    },
  };
}

/** A feature by its project and name. */
export interface FeatureRef {
  readonly projectId: string;
  readonly featureName: string;
}

export interface FeatureEnvironmentRef extends FeatureRef {
  readonly environment: string;
}

/** A statement that reads a part of a feature: `$1` name, `$2` project. */
function featureStatement(json: string): Statement {
  return prepared(
    `select (${json})::text as json, f.edit_version::text as "editVersion" from feature f where f.name = $1 and f.project = $2`,
  );
}

/** A statement that reads a part of the `settings` of a feature in the environment `$3`. */
function environmentStatement(json: string): Statement {
  return prepared(`
    select (${json})::text as json, settings as stored,
      exists (select from project_environment where project = f.project and environment = $3::text) as "isConnected"
    from feature f cross join lateral (select f.environments -> $3::text as settings) as in_environment
    where f.name = $1 and f.project = $2`);
}

const environment =
  environmentStatement(`json_build_object('name', f.name, 'environment', $3::text, 'enabled', coalesce((settings -> 'enabled')::boolean, false),
    'strategies', coalesce((
      select json_agg(strategy || jsonb_build_object('featureName', f.name) order by ordinal)
      from jsonb_array_elements(settings -> 'strategies') with ordinality as listed (strategy, ordinal)), '[]'))`);
const strategies = environmentStatement(`coalesce(settings -> 'strategies', '[]')`);
const environmentVariants = environmentStatement(
  `json_build_object('version', 1, 'variants', ${variantsSortedByName(`settings -> 'variants'`)})`,
);

const strategy =
  featureStatement(`select strategy from jsonb_array_elements(f.environments -> $3::text -> 'strategies') as strategy
   where strategy ->> 'id' = $4`);

const variants = featureStatement(`json_build_object('version', 1, 'variants', coalesce((
    select ${variantsSortedByName(`f.environments -> e.name -> 'variants'`)}
    from project_environment connection join environment e on e.name = connection.environment
    where connection.project = f.project and jsonb_array_length(f.environments -> e.name -> 'variants') > 0
    order by e.sort_order, e.name limit 1), '[]'))`);

const lifecycle = featureStatement('f.lifecycle');

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

/** Reads parts of one feature, as JSON, in one statement each. */
export function featurePartsReader(database: ReadDatabase) {
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
  };
}

const dependenciesInTheWay = prepared(`
  with named as (select name, parents from feature where name = any ($2::text[]) and project = $1)
  select json_build_object(
    'parentsWithChildFeatures', coalesce((
      select json_agg(distinct parent order by parent) from ${activeChildrenOfAll('array(select name from named)')}
        and child.name not in (select name from named)), '[]'),
    'hasDeletedDependencies', exists (select from named where parents <> '{}')
      or exists (select from ${activeChildrenOfAll('array(select name from named)')}))::text as json`);

const archivedFeatures = prepared(selectArchivedFeatures);

/** Reads archived features, and what prevents features from being archived, as JSON, in one statement each. */
export function archiveReader(database: ReadDatabase) {
  return {
    /** The archived features of a project; null for those of all projects. */
    features: (project: string | null, userId: number, hidden: readonly string[]): Promise<string> =>
      readJson(database, archivedFeatures, [userId, project, hidden]),
    /** The dependencies that prevent features of a project from being archived, or that archiving removes. */
    dependenciesInTheWay: (project: string, names: readonly string[]): Promise<string> =>
      readJson(database, dependenciesInTheWay, [project, names]),
  };
}

const creatorsMatching = prepared(`
  with creator as materialized (
    select distinct on (created_by_id) created_by_id as id, created_by_name as name from feature
    where project <> all ($1::text[]) order by created_by_id, created_at desc
  ), matching as (select * from creator where strpos(lower(name), $2) > 0)
  select json_build_object('total', (select count(*) from matching), 'flagCreators', coalesce((
    select json_agg(json_build_object('id', id, 'name', name) order by lower(name), id)
    from (select * from matching order by lower(name), id limit $3 offset $4) as page), '[]'))::text as json`);

const creatorsOfProject = prepared(`
  select coalesce((
    select json_agg(json_build_object('id', id, 'name', name) order by name, id) from (
      select distinct on (created_by_id) created_by_id as id, created_by_name as name from feature
      where project = p.id order by created_by_id, created_at desc) as creators), '[]')::text as json
  from project p where p.id = $1`);

const followersOf = prepared(`
  select json_build_object('features', coalesce((
    select json_agg(json_build_object('name', name, 'createdBy', created_by_id, 'favoriteOf', coalesce((
      select json_agg(user_id order by user_id) from (
        select user_id from feature_favorite where feature = name order by user_id limit 500) as favorite), '[]')))
    from feature where name = any ($1::text[])), '[]'), 'productionEnvironments', coalesce((
    select json_agg(name order by name) from environment where type = 'production'), '[]'))::text as json`);

/** Reads the users who created features, as JSON, in one statement each. */
export function flagCreatorsReader(database: ReadDatabase) {
  return {
    ofProject: async (id: string): Promise<string> => {
      const [row] = await database.read<{ json: string }>(creatorsOfProject, [id]);
      if (row === undefined) throw noProjectFound(id);
      return row.json;
    },
    /** Who created features, and whose favourites they are. */
    followersOf: (names: readonly string[]): Promise<string> => readJson(database, followersOf, [names]),
    /** The creators of features in projects that are not hidden. @param part a part of the name, in lower case */
    search: (
      hidden: readonly string[],
      part: string,
      { offset, limit }: { readonly offset: number; readonly limit: number },
    ): Promise<string> => readJson(database, creatorsMatching, [hidden, part, limit, offset]),
  };
}
