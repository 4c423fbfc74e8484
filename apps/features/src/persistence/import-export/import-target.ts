import type { Tag } from '@bunting/contracts';
import type { Tx } from '@bunting/database';
import type { Destination, NamedInFile } from '../../domain/import/index.ts';
import type { FeatureNaming } from '../../domain/names.ts';
import { surroundingsJson, type SurroundingsJson, surroundingsOf } from '../features/surroundings.ts';

/** What an import finds where its features go to, beside those features themselves. */
export interface ImportTarget extends Omit<Destination, 'project' | 'environment' | 'features'> {
  readonly featureLimit: number | null;
}

interface DestinationJson {
  readonly naming: FeatureNaming | null;
  readonly featureLimit: number | null;
  readonly surroundings: SurroundingsJson;
  readonly children: readonly { readonly parent: string; readonly name: string }[];
  readonly tagTypes: readonly string[];
  readonly tags: readonly Tag[];
  readonly strategyIds: readonly string[];
}

/** `$1` project, names of `$2` context fields, `$3` segments and `$4` features, `$5` tags, `$6` ids of strategies. */
const destination = `
  select json_build_object(
    'naming', p.feature_naming,
    'featureLimit', p.feature_limit,
    'surroundings', ${surroundingsJson('$2::text[]', 'array(select id from segment where name = any ($3::text[]))')},
    'children', (
      select coalesce(json_agg(json_build_object('parent', parent, 'name', child.name)), '[]')
      from feature child, unnest(child.parents) as parent
      where child.parents && $4::text[] and child.parents <> '{}' and child.archived_at is null and parent = any ($4::text[])),
    'tagTypes', (select coalesce(json_agg(name), '[]') from tag_type),
    'tags', (
      select coalesce(json_agg(json_build_object('type', type, 'value', value)), '[]') from tag
      where (type, value) in (select type, value from json_to_recordset($5::json) as given (type text, value text))),
    'strategyIds', (
      select coalesce(json_agg(id), '[]') from feature f, unnest(f.strategy_ids) as id
      where f.strategy_ids && $6::text[] and f.strategy_ids <> '{}' and id = any ($6::text[]))
  ) as destination
  from project p where p.id = $1 and p.archived_at is null`;

/**
 * Where imports go to, within a unit of work.
 * @param hidden the projects that the importing user may not see
 */
export const importTargetRepository = ({ query }: Tx, hidden: readonly string[]) => ({
  /** Waits until no other import is at work: one that comes second is to find what the first one made. */
  lockImports: async (): Promise<void> => {
    await query("select pg_advisory_xact_lock(hashtext('import'))");
  },

  /** All that the file names and the project has, in one statement; undefined for a project that there is not. */
  find: async (
    project: string,
    { contextFields, segments, features, tags, strategyIds }: NamedInFile,
  ): Promise<ImportTarget | undefined> => {
    const values = [project, contextFields, segments, features, JSON.stringify(tags), strategyIds];
    const [row] = await query<{ destination: DestinationJson }>(destination, values);
    if (row === undefined) return undefined;
    const found = row.destination;
    const children = Map.groupBy(found.children, ({ parent }) => parent);
    return {
      naming: found.naming,
      featureLimit: found.featureLimit,
      surroundings: surroundingsOf(found.surroundings, hidden),
      children: new Map([...children].map(([parent, some]) => [parent, some.map(({ name }) => name)])),
      tagTypes: new Set(found.tagTypes),
      tags: found.tags,
      takenStrategyIds: new Set(found.strategyIds),
    };
  },
});
export type ImportTargetRepository = ReturnType<typeof importTargetRepository>;
