import type { ExportFeaturesBody, ProposeImport, RequestOf, Tag } from '@bunting/contracts';
import { advisoryLock, type Tx } from '@bunting/database';
import type { FeatureNaming } from '../names.ts';
import {
  type ConstraintSettings,
  type ProjectContextJson,
  projectContextJson,
  projectContextOf,
} from '../projects/project-context-store.ts';
import { activeProjectNotFound } from '../refusals.ts';
import {
  ContextFieldEntity,
  describedMembers,
  ImportProposalEntity,
  sql,
  TagTypeEntity,
} from '../unit-of-work/entities.ts';
import { activeChildrenOfAll } from '../unit-of-work/feature-sql.ts';
import { jsonListOf } from '../unit-of-work/sql.ts';
import type { StoredForImport } from './decide-import.ts';
import type { FileReferences } from './import-file.ts';

/** The changes of an import that require a change request. */
export type ImportProposal = Omit<RequestOf<typeof ProposeImport>['body'], 'importId'>;

/** Import proposals that have no change request yet. They are stored in the transaction of the import, so that none is lost. */
export function importProposalRepository(tx: Tx) {
  return {
    add: async (id: string, proposal: ImportProposal): Promise<void> => {
      await tx.em.insert(ImportProposalEntity, { id, proposal });
    },
    /** Returns undefined once the change request was created. */
    find: async (id: string): Promise<ImportProposal | undefined> => {
      const text = 'select proposal from import_proposal where id = $1';
      return (await tx.query<{ proposal: ImportProposal }>(text, [id]))[0]?.proposal;
    },
    /** The ids of all proposals, oldest first. */
    listPending: async (): Promise<string[]> => {
      const text = 'select id from import_proposal order by created_at, id';
      return (await tx.query<{ id: string }>(text)).map(({ id }) => id);
    },
    remove: async (id: string): Promise<void> => {
      await tx.em.nativeDelete(ImportProposalEntity, { id });
    },
  };
}

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
export function importDestinationReader({ query }: Tx, hidden: readonly string[], settings: ConstraintSettings) {
  return {
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
  };
}

/** The content of an export, and the names of its features. */
export interface FeatureExport {
  /** JSON in the format that imports accept */
  readonly json: string;
  readonly names: readonly string[];
}

/** `$1` environment; features by `$2` names, `$3` the value of a tag, `$4` project, each null for any; `$5` hidden projects. */
const exportSelected = `
  with selected as (
    select f.*, f.environments -> $1::text as settings,
      exists (select from project_environment where project = f.project and environment = $1::text) as is_connected
    from feature f
    where f.archived_at is null
      and ($2::text[] is null or f.name = any ($2::text[]))
      and ($3::text is null or f.tags @> jsonb_build_array(jsonb_build_object('value', $3::text)))
      and ($4::text is null or f.project = $4::text)
      and f.project <> all ($5::text[])
  ), strategy as (
    select f.name as feature, ordinal, strategy from selected f,
      jsonb_array_elements(f.settings -> 'strategies') with ordinality as listed (strategy, ordinal)
    where f.is_connected
  ), used_field as (
    select used_constraint ->> 'contextName' as name from strategy,
      jsonb_array_elements(strategy -> 'constraints') as used_constraint
    union select strategy -> 'parameters' ->> 'stickiness' from strategy
    union select variant ->> 'stickiness' from strategy, jsonb_array_elements(strategy -> 'variants') as variant
    union select variant ->> 'stickiness' from selected f, jsonb_array_elements(f.settings -> 'variants') as variant
      where f.is_connected
  )
  select json_build_object(
    'features', ${jsonListOf(`
      select json_build_object(${describedMembers('selected')}, 'archived', false) from selected order by name`)},
    'featureStrategies', ${jsonListOf(`
      select json_build_object('id', strategy ->> 'id', 'name', strategy ->> 'name', 'featureName', feature,
        'title', strategy -> 'title', 'disabled', strategy -> 'disabled', 'sortOrder', strategy -> 'sortOrder',
        'parameters', strategy -> 'parameters', 'constraints', strategy -> 'constraints',
        'variants', strategy -> 'variants', 'segments', strategy -> 'segments')
      from strategy order by feature, ordinal`)},
    'featureEnvironments', ${jsonListOf(`
      select json_build_object('featureName', name, 'name', name, 'environment', $1::text,
        'enabled', coalesce((settings -> 'enabled')::boolean, false), 'variants', coalesce(settings -> 'variants', '[]'))
      from selected where is_connected order by name`)},
    'contextFields', ${jsonListOf(`
      select ${sql.jsonOf(ContextFieldEntity, 'context_field')}
      from context_field where name in (select name from used_field) order by name`)},
    'featureTags', ${jsonListOf(`
      select json_build_object('featureName', f.name, 'tagType', tag ->> 'type', 'tagValue', tag ->> 'value')
      from selected f, jsonb_array_elements(f.tags) with ordinality as listed (tag, ordinal) order by f.name, ordinal`)},
    'segments', ${jsonListOf(`
      select json_build_object('id', id, 'name', name) from segment
      where id in (select used::integer from strategy, jsonb_array_elements_text(strategy -> 'segments') as used)
      order by name collate "C"`)},
    'tagTypes', ${jsonListOf(`
      select ${sql.jsonOf(TagTypeEntity, 'tag_type')}
      from tag_type where name in (select tag ->> 'type' from selected f, jsonb_array_elements(f.tags) as tag) order by name`)},
    'dependencies', ${jsonListOf(`
      select json_build_object('feature', name, 'dependencies', dependencies)
      from selected where parents <> '{}' order by name`)},
    'links', ${jsonListOf(`
      select json_build_object('feature', name, 'links', links) from selected where links <> '[]' order by name`)}
  )::text as json,
  (select coalesce(array_agg(name order by name), '{}') from selected) as names
  from environment where name = $1::text`;

/** Exports features in one statement; undefined for an environment that does not exist. */
export function readFeatureExport({ query }: Tx) {
  return async (
    { environment, features, tag, project }: Omit<ExportFeaturesBody, 'downloadFile'>,
    hidden: readonly string[],
  ): Promise<FeatureExport | undefined> => {
    const values = [environment, features ?? null, tag ?? null, project ?? null, hidden];
    return (await query<FeatureExport>(exportSelected, values))[0];
  };
}
