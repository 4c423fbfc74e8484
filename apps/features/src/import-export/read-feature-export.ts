import type { ExportFeaturesBody } from '@bunting/contracts';
import type { Tx } from '@bunting/database';
import { ContextFieldEntity, sql, TagTypeEntity } from '../unit-of-work/entities.ts';
import { describedMembers } from '../unit-of-work/entity-json-sql.ts';
import { jsonListOf } from '../unit-of-work/json-sql.ts';

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
export const readFeatureExport =
  ({ query }: Tx) =>
  async (
    { environment, features, tag, project }: Omit<ExportFeaturesBody, 'downloadFile'>,
    hidden: readonly string[],
  ): Promise<FeatureExport | undefined> => {
    const values = [environment, features ?? null, tag ?? null, project ?? null, hidden];
    return (await query<FeatureExport>(exportSelected, values))[0];
  };
