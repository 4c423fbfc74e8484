import type { ClientFeature, ClientSegment, DeliveryScope } from '@bunting/contracts';
import { withClient } from '@bunting/testing';

/** The expected features of an SDK, computed from the tables of the features service. */
export interface FeaturesOfDatabase {
  readonly features: ClientFeature[];
  /** undefined where the strategies carry the constraints of their segments */
  readonly segments: ClientSegment[] | undefined;
}

/** SQL: a strategy without what SDKs do not evaluate, and without `segments`, which each format adds in its own way. */
const strategyWithoutMetadata = `(strategy - '{id,title,disabled,sortOrder,segments}'::text[])`;

const withSegmentIds = `${strategyWithoutMetadata} || jsonb_build_object('segments', (
  select jsonb_agg(id order by id::integer) from jsonb_array_elements(strategy -> 'segments') as id))`;

const withSegmentConstraints = `${strategyWithoutMetadata} || jsonb_build_object('constraints', (strategy -> 'constraints') || coalesce((
  select jsonb_agg(item.it order by segment.id, item.place)
  from segment cross join jsonb_array_elements(segment.constraints) with ordinality as item (it, place)
  where segment.id in (select used::integer from jsonb_array_elements_text(strategy -> 'segments') as used)), '[]'))`;

const strategies = (withSegments: string): string => `coalesce((
  select jsonb_agg(case when strategy -> 'segments' = '[]' then ${strategyWithoutMetadata} else ${withSegments} end order by place)
  from jsonb_array_elements(f.it -> 'strategies') with ordinality as listed (strategy, place)
  where strategy -> 'disabled' is distinct from 'true'), '[]')`;

// A feature whose strategies are all disabled is off, whereas one without strategies is on for all users.
const isOn = `coalesce((f.it -> 'enabled')::boolean, false)
  and (f.it -> 'strategies' = '[]' or f.it -> 'strategies' @> '[{"disabled": false}]')`;

const clientFeature = (withSegments: string): string => {
  const members = `
    'name', f.name, 'type', f.type, 'description', f.description, 'project', f.project, 'stale', f.stale,
    'impressionData', f.impression_data, 'enabled', ${isOn}, 'strategies', ${strategies(withSegments)},
    'variants', coalesce(f.it -> 'variants', '[]')`;
  return `case when f.parents = '{}' then json_build_object(${members}) else json_build_object(${members},
    'dependencies', (
      select jsonb_agg(case when parent -> 'enabled' = 'false' then parent - 'variants' else parent end)
      from jsonb_array_elements(f.dependencies) as parent)) end`;
};

/** SQL: the features of a scope. `$1` environment, `$2` projects or null, `$3` prefix of names, `$4` tags as JSON documents or null. */
const selectFeatures = (withSegments: string): string => `
  with wanted as (
    select f.*, case when connected.project is not null then f.environments -> $1::text end as it
    from feature f
    left join project_environment connected on connected.project = f.project and connected.environment = $1::text
    where f.archived_at is null and ($2::text[] is null or f.project = any ($2::text[])) and starts_with(f.name, $3)
      and ($4::text[] is null or f.tags @> any ($4::text[]::jsonb[])))
  select
    (select coalesce(json_agg(${clientFeature(withSegments)} order by f.name collate "C"), '[]') from wanted f) as features,
    (select coalesce(json_agg(json_build_object('id', segment.id, 'name', segment.name, 'constraints', segment.constraints)
        order by segment.id), '[]')
      from segment where segment.id in (
        select used::text::integer
        from wanted f, jsonb_path_query(f.it, '$.strategies[*] ? (@.disabled != true).segments[*]') as used)) as segments`;

/**
 * Computes the features that SDKs of a scope must have from the tables of the features service, independently of the delivery rows from
 * which gateways serve them.
 * @param url the database of the features service
 */
export const featuresOfDatabase = async (
  url: string,
  { environment, projects, namePrefix = '', tags, inlineSegments }: DeliveryScope,
): Promise<FeaturesOfDatabase> => {
  const documents = tags?.map((tag) => JSON.stringify([tag])) ?? null;
  const { rows } = await withClient(url, (client) =>
    client.query<{ features: ClientFeature[]; segments: ClientSegment[] }>(
      selectFeatures(inlineSegments ? withSegmentConstraints : withSegmentIds),
      [environment, projects ?? null, namePrefix, documents],
    ),
  );
  const [row] = rows;
  if (row === undefined) throw new Error('The database returned no row.');
  return { features: row.features, segments: inlineSegments ? undefined : row.segments };
};
