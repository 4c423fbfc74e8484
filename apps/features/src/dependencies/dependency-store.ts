import { prepared, type ReadDatabase, type Statement } from '@bunting/database';
import type { FeatureRef } from '../features/feature-read-store.ts';
import { activeChildrenOf } from '../unit-of-work/feature-sql.ts';
import { readJson } from '../unit-of-work/sql.ts';

/** A statement that lists names; the list is empty for a feature that does not exist. `$1` name, `$2` project. */
function namesFor(names: string): Statement {
  return prepared(
    `select coalesce((select (${names}) from feature f where f.name = $1 and f.project = $2), '[]')::text as json`,
  );
}

const possibleParents = namesFor(
  `select coalesce(json_agg(parent.name order by parent.name), '[]') from feature parent
   where parent.project = f.project and parent.archived_at is null and parent.name <> f.name and parent.parents = '{}'
     and not exists (select from ${activeChildrenOf('f.name')})`,
);

const parentVariants = namesFor(
  `select coalesce(json_agg(name order by name), '[]') from (
     select variant ->> 'name' as name from jsonb_path_query(f.environments, '$.*.variants[*]') as variant
     union select variant ->> 'name' from jsonb_path_query(f.environments, '$.*.strategies[*].variants[*]') as variant
   ) as names`,
);

const anyDependencies = prepared(`select to_json(exists (select from feature where parents <> '{}'))::text as json`);

/** Reads what a dependency may be on, and whether there is any, as JSON, in one statement each. */
export function dependencyReader(database: ReadDatabase) {
  return {
    possibleParents: ({ featureName, projectId }: FeatureRef): Promise<string> =>
      readJson(database, possibleParents, [featureName, projectId]),
    /** The names of the variants of a parent, on which a dependency may depend. */
    parentVariants: ({ featureName, projectId }: FeatureRef): Promise<string> =>
      readJson(database, parentVariants, [featureName, projectId]),
    /** Whether any feature depends on another. */
    any: (): Promise<string> => readJson(database, anyDependencies, []),
  };
}
