import type { Refusal } from '@bunting/contracts';
import { contentTag } from '@bunting/contracts/hashing';
import type { ReadDatabase, Statement } from '@bunting/database';
import { featureNotInEnvironment, featureWithoutEnvironment, strategyNotFound } from '../refusals.ts';
import { readRefusalOfMissingFeature } from './refusal-of-missing-feature.ts';
import { emptyEnvironment } from './feature-in-environment.ts';
import type { JsonWithEntityTag } from '../unit-of-work/if-match.ts';
import { variantsSortedByName } from '../unit-of-work/json-sql.ts';

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
export const featurePartsReader = (database: ReadDatabase) => {
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
};
