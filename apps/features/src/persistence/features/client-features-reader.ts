import { type DeliveryScope, type EventType } from '@bunting/contracts';
import type { Database, Statement } from '@bunting/database';
import { revisionReader } from '@bunting/outbox';
import { describedColumns, describedMembers } from '../entities.ts';

/** The features that an SDK may evaluate, as JSON texts, and a hash of them. */
export interface ClientFeaturesContent {
  readonly tag: string;
  /** undefined if the tag is equal to the given one */
  readonly features: string | undefined;
  /** the segments that the features use */
  readonly segments: string | undefined;
}

/** Events that change no reply to SDKs. All other events invalidate cached replies: an event that is missing here costs a statement, one too many would leave stale replies. */
const irrelevantEvents: readonly EventType[] = [
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

/** SQL: a strategy without what SDKs do not evaluate, and without `segments`, which each format adds in its own way. */
const bare = `(strategy - '{id,title,disabled,sortOrder,segments}'::text[])`;

const withSegmentIds = `${bare} || jsonb_build_object('segments', (
  select jsonb_agg(id order by id::integer) from jsonb_array_elements(strategy -> 'segments') as id))`;

const withSegmentConstraints = `${bare} || jsonb_build_object('constraints', (strategy -> 'constraints') || coalesce((
  select jsonb_agg(item.it order by segment.id, item.place)
  from segment cross join jsonb_array_elements(segment.constraints) with ordinality as item (it, place)
  where segment.id in (select used::integer from jsonb_array_elements_text(strategy -> 'segments') as used)), '[]'))`;

/** SQL: the enabled strategies of the feature `f` in the environment `f.it`. */
const strategies = (withSegments: string): string => `coalesce((
  select jsonb_agg(case when strategy -> 'segments' = '[]' then ${bare} else ${withSegments} end order by place)
  from jsonb_array_elements(f.it -> 'strategies') with ordinality as listed (strategy, place)
  where strategy -> 'disabled' is distinct from 'true'), '[]')`;

// A feature whose strategies are all disabled is off, whereas one without strategies is on for all users.
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

/** SQL: the active features of the projects `$2` (null for all) with their settings in the environment `$1`. */
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

/** Further parameters: `$3` prefix of names, `$4` tags as JSON documents or null, `$5` the tag of the cached content. */
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

/** Reads features as SDKs evaluate them, in one statement each. */
export const clientFeaturesReader = (database: Database) => ({
  /** The position of the newest event that may change a reply to SDKs. */
  revision: revisionReader(database, irrelevantEvents),

  /** Undefined if the environment does not exist. @param cachedTag the tag of content that need not be returned again */
  all: async (
    { environment, projects, namePrefix = '', tags, inlineSegments }: DeliveryScope,
    cachedTag?: string,
  ): Promise<ClientFeaturesContent | undefined> => {
    const documents = tags?.map((tag) => JSON.stringify([tag])) ?? null;
    const values = [environment, projects ?? null, namePrefix, documents, cachedTag ?? null];
    const [row] = await database.read<{ tag: string; features: string | null; segments: string | null }>(
      inlineSegments ? inlined : withIds,
      values,
    );
    if (row === undefined) return undefined;
    return { tag: row.tag, features: row.features ?? undefined, segments: row.segments ?? undefined };
  },

  /** Undefined if the environment does not exist; null if the feature does not exist. */
  one: async (name: string, { environment, projects }: DeliveryScope): Promise<string | null | undefined> =>
    (await database.read<{ json: string | null }>(oneFeature, [environment, projects ?? null, name]))[0]?.json,
});
export type ClientFeaturesReader = ReturnType<typeof clientFeaturesReader>;
