import type { Tag } from '@bunting/contracts';
import { advisoryLock, type Tx } from '@bunting/database';
import type { StoredForImport } from './decide-import.ts';
import type { FileReferences } from './parse-import-file.ts';
import type { FeatureNaming } from '../names.ts';
import { activeProjectNotFound } from '../refusals.ts';
import {
  type ConstraintSettings,
  projectContextJson,
  type ProjectContextJson,
  projectContextOf,
} from '../projects/project-context-reader.ts';
import { activeChildrenOfAll } from '../unit-of-work/active-features.ts';

type StoredDestination = StoredForImport['destination'] & { readonly featureLimit: number | null };

interface ImportDestinationJson {
  readonly naming: FeatureNaming | null;
  readonly featureLimit: number | null;
  readonly projectContext: ProjectContextJson;
  readonly children: readonly { readonly parent: string; readonly name: string }[];
  readonly tagTypes: readonly string[];
  readonly tags: readonly Tag[];
  readonly strategyIds: readonly string[];
}

/** `$1` project, names of `$2` context fields, `$3` segments and `$4` features, `$5` tags, `$6` ids of strategies. */
const findDestination = `
  select json_build_object(
    'naming', p.feature_naming,
    'featureLimit', p.feature_limit,
    'projectContext', ${projectContextJson('$2::text[]', 'array(select id from segment where name = any ($3::text[]))')},
    'children', (
      select coalesce(json_agg(json_build_object('parent', parent, 'name', child.name)), '[]')
      from ${activeChildrenOfAll('$4::text[]')}),
    'tagTypes', (select coalesce(json_agg(name), '[]') from tag_type),
    'tags', (
      select coalesce(json_agg(json_build_object('type', type, 'value', value)), '[]') from tag
      where (type, value) in (select type, value from json_to_recordset($5::json) as file_tag (type text, value text))),
    'strategyIds', (
      select coalesce(json_agg(id), '[]') from feature f, unnest(f.strategy_ids) as id
      where f.strategy_ids && $6::text[] and f.strategy_ids <> '{}' and id = any ($6::text[]))
  ) as target
  from project p where p.id = $1 and p.archived_at is null`;

/**
 * The project to which an import writes, within a transaction.
 * @param hidden the projects that the caller may not see
 */
export const importDestinationReader = ({ query }: Tx, hidden: readonly string[], settings: ConstraintSettings) => ({
  /** Waits for other imports to end: a concurrent import of the same file must find what the first one created. */
  lockImports: async (): Promise<void> => {
    await advisoryLock({ query }, 'import');
  },

  /**
   * Reads in one statement the existing objects that the file names.
   * @throws Refusal `NotFoundError` for a project that does not exist or is archived
   */
  get: async (
    project: string,
    { contextFields, segments, features, tags, strategyIds }: FileReferences,
  ): Promise<StoredDestination> => {
    const values = [project, contextFields, segments, features, JSON.stringify(tags), strategyIds];
    const [row] = await query<{ target: ImportDestinationJson }>(findDestination, values);
    if (row === undefined) throw activeProjectNotFound(project);
    const { target } = row;
    const children = Map.groupBy(target.children, ({ parent }) => parent);
    return {
      naming: target.naming,
      featureLimit: target.featureLimit,
      projectContext: projectContextOf(target.projectContext, hidden, settings),
      children: new Map([...children].map(([parent, rows]) => [parent, rows.map(({ name }) => name)])),
      tagTypes: new Set(target.tagTypes),
      tags: target.tags,
      takenStrategyIds: new Set(target.strategyIds),
    };
  },
});
