import type { EventType } from '@bunting/contracts';
import type { Database, Statement } from '@bunting/database';
import { revisionReader } from '@bunting/outbox';
import type { Delivered } from '../../domain/delivery.ts';
import { describedColumns, describedMembers } from '../entities.ts';

/** What an application is given, as the JSON that PostgreSQL makes, and the tag of it. */
export interface ClientFeaturesContent {
  readonly tag: string;
  /** undefined where the tag is that of the content that is known already */
  readonly features: string | undefined;
  /** those that the features use */
  readonly segments: string | undefined;
}

/** What leaves every answer as it is. All else that happens may change one: too much looked at costs a look, too little a change. */
const unnoticed: readonly EventType[] = [
  'feature-link-added',
  'feature-link-updated',
  'feature-link-removed',
  'feature-favorited',
  'feature-unfavorited',
  'project-favorited',
  'project-unfavorited',
  'feature-completed',
  'feature-uncompleted',
  'feature-potentially-stale-on',
  'features-exported',
  'application-created',
  'segment-created',
  'tag-created',
  'tag-type-created',
  'tag-type-updated',
  'context-field-created',
  'context-field-updated',
  'strategy-created',
  'strategy-updated',
];

/** Columns that are not for SDKs: of `segments` each form makes what it needs. */
const bare = `(strategy - '{id,title,disabled,sortOrder,segments}'::text[])`;

const withSegmentIds = `${bare} || jsonb_build_object('segments', (
  select jsonb_agg(id order by id::integer) from jsonb_array_elements(strategy -> 'segments') as id))`;

const withSegmentConstraints = `${bare} || jsonb_build_object('constraints', (strategy -> 'constraints') || coalesce((
  select jsonb_agg(item.it order by segment.id, item.place)
  from segment cross join jsonb_array_elements(segment.constraints) with ordinality as item (it, place)
  where segment.id in (select used::integer from jsonb_array_elements_text(strategy -> 'segments') as used)), '[]'))`;

/** SQL: what is evaluated of the feature `f` in the environment that `f.it` is the feature in. */
const strategies = (withSegments: string): string => `coalesce((
  select jsonb_agg(case when strategy -> 'segments' = '[]' then ${bare} else ${withSegments} end order by place)
  from jsonb_array_elements(f.it -> 'strategies') with ordinality as listed (strategy, place)
  where strategy -> 'disabled' is distinct from 'true'), '[]')`;

// With all of its strategies disabled a feature is on for nobody, and not for everybody as one that has none is.
const isOn = `coalesce((f.it -> 'enabled')::boolean, false)
  and (f.it -> 'strategies' = '[]' or f.it -> 'strategies' @> '[{"disabled": false}]')`;

const clientFeature = (withSegments: string): string => {
  const members = `
    ${describedMembers('f')}, 'enabled', ${isOn}, 'strategies', ${strategies(withSegments)},
    'variants', coalesce(f.it -> 'variants', '[]')`;
  return `case when f.parents = '{}' then json_build_object(${members}) else json_build_object(${members},
    'dependencies', (
      select jsonb_agg(case when parent -> 'enabled' = 'false' then parent - 'variants' else parent end)
      from jsonb_array_elements(f.dependencies) as parent)) end`;
};

/** SQL: the features of environment `$1` and of projects `$2`, which may be null for all, as they are there. */
const wanted = (narrowed: string): string => `
  select ${describedColumns.map((column) => `f.${column}`).join(', ')}, f.dependencies, f.parents, f.segment_ids,
    case when connected.project is not null then f.environments -> $1::text end as it
  from feature f
  left join project_environment connected on connected.project = f.project and connected.environment = $1::text
  where f.archived_at is null and ($2::text[] is null or f.project = any ($2::text[])) and ${narrowed}`;

const usedSegments = `
  select coalesce(json_agg(json_build_object('id', segment.id, 'name', segment.name, 'constraints', segment.constraints)
    order by segment.id), '[]')::text
  from segment where segment.id in (
    select used::text::integer
    from wanted f, jsonb_path_query(f.it, '$.strategies[*] ? (@.disabled != true).segments[*]') as used
    where f.segment_ids <> '{}')`;

/** Further `$3` the beginning of the name; `$4` tags, as JSON documents, or null; `$5` the tag of what is known already. */
const everything = (withSegments: string, segments: string): string => `
  with wanted as materialized (${wanted(`starts_with(f.name, $3)
    and ($4::text[] is null or f.tags @> any ($4::text[]::jsonb[]))`)}),
  made as materialized (
    select
      (select coalesce(json_agg(${clientFeature(withSegments)} order by f.name collate "C"), '[]')::text from wanted f) as features,
      (${segments}) as segments
    from environment where name = $1::text
  ), tagged as materialized (
    select *, left(encode(sha256(convert_to(features || coalesce(segments, ''), 'UTF8')), 'hex'), 32) as tag from made
  )
  select tag, case when tag is distinct from $5 then features end as features,
    case when tag is distinct from $5 then segments end as segments
  from tagged`;

const withIds: Statement = { name: 'client-features', text: everything(withSegmentIds, usedSegments) };
const inlined: Statement = {
  name: 'client-features-inlined',
  text: everything(withSegmentConstraints, 'null::text'),
};

const oneFeature: Statement = {
  name: 'client-feature',
  text: `
    select (select ${clientFeature(withSegmentConstraints)}::text from (${wanted('f.name = $3')}) as f) as json
    from environment where name = $1::text`,
};

/** Features as SDKs evaluate them, in one statement each. */
export const clientFeaturesReader = (database: Database) => ({
  /** How far the changes have come that SDKs may notice. */
  revision: revisionReader(database, unnoticed),

  /** Undefined where there is no such environment. @param known the tag of what need not be read again */
  all: async (
    { environment, projects, namePrefix = '', tags, inlineSegments }: Delivered,
    known?: string,
  ): Promise<ClientFeaturesContent | undefined> => {
    const documents = tags?.map((tag) => JSON.stringify([tag])) ?? null;
    const values = [environment, projects ?? null, namePrefix, documents, known ?? null];
    const [row] = await database.read<{ tag: string; features: string | null; segments: string | null }>(
      inlineSegments ? inlined : withIds,
      values,
    );
    if (row === undefined) return undefined;
    return { tag: row.tag, features: row.features ?? undefined, segments: row.segments ?? undefined };
  },

  /** Undefined where there is no such environment; null where there is no such feature. */
  one: async (name: string, { environment, projects }: Delivered): Promise<string | null | undefined> =>
    (await database.read<{ json: string | null }>(oneFeature, [environment, projects ?? null, name]))[0]?.json,
});
export type ClientFeaturesReader = ReturnType<typeof clientFeaturesReader>;
