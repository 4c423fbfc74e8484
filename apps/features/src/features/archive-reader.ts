import type { ReadDatabase, Statement } from '@bunting/database';
import { selectArchivedFeatures } from '../unit-of-work/feature-queries.ts';
import { activeChildrenOfAll } from '../unit-of-work/active-features.ts';
import { readJson } from '../unit-of-work/read-json.ts';

const dependenciesInTheWay: Statement = {
  name: 'archive-validation',
  text: `
    with named as (select name, parents from feature where name = any ($2::text[]) and project = $1)
    select json_build_object(
      'parentsWithChildFeatures', coalesce((
        select json_agg(distinct parent order by parent) from ${activeChildrenOfAll('array(select name from named)')}
          and child.name not in (select name from named)), '[]'),
      'hasDeletedDependencies', exists (select from named where parents <> '{}')
        or exists (select from ${activeChildrenOfAll('array(select name from named)')}))::text as json`,
};

const archivedFeatures: Statement = { name: 'archived-features', text: selectArchivedFeatures };

/** Reads archived features, and what prevents features from being archived, as JSON, in one statement each. */
export const archiveReader = (database: ReadDatabase) => ({
  /** The archived features of a project; null for those of all projects. */
  features: (project: string | null, userId: number, hidden: readonly string[]): Promise<string> =>
    readJson(database, archivedFeatures, [userId, project, hidden]),
  /** The dependencies that prevent features of a project from being archived, or that archiving removes. */
  dependenciesInTheWay: (project: string, names: readonly string[]): Promise<string> =>
    readJson(database, dependenciesInTheWay, [project, names]),
});
