import type { SchemaStep } from '@bunting/database';
import { inboxTables } from '@bunting/outbox';
import { foundTables } from './found-tables.ts';
import { statusTables } from './status-tables.ts';
import { wordTables } from './word-tables.ts';
import { indexFeedTables } from './index-feed-tables.ts';
import { pageTables } from './page-tables.ts';
import { reconciliationTables } from './reconciliation-tables.ts';

// Columns of one width come first: what is only counted is then read without a look at the texts behind them.
const lookup = `create table feature_lookup (
  created_at timestamptz not null,
  last_seen_at timestamptz,
  created_by_id bigint not null,
  archived boolean not null,
  stale boolean not null,
  name text collate "C" primary key,
  project text collate "C" not null,
  type text collate "C" not null,
  created_by_name text collate "C" not null,
  segment_ids integer[] not null,
  favorited_by integer[] not null,
  statuses text[] collate "C" not null,
  tags text[] collate "C" not null,
  search_text text collate "C" not null
) with (
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_insert_scale_factor = 0.02,
  autovacuum_analyze_scale_factor = 0.02
)`;

// One for each order of a page: what is asked for first is found first, and nothing needs to be sorted.
const orders = [
  'created_at, name',
  'created_at desc nulls last, name',
  'name',
  ...['type', 'project', 'stale', 'last_seen_at'].flatMap((column) => [
    `${column}, created_at, name`,
    `${column} desc nulls last, created_at, name`,
  ]),
];

// What has many values is found in one index, whichever of them are asked for together. New entries are put where they are
// found, and not on a list that every search has to read through.
const found = ['not archived', 'archived'].map(
  (which) => `create index on feature_lookup
    using gin (tags, segment_ids, statuses, favorited_by, search_text gin_trgm_ops)
    with (fastupdate = off) where ${which}`,
);

// What is found can only change together with the mark, so that what was counted under a mark holds as long as it stands.
const tally = [
  `create table search_mark (mark uuid not null)`,
  'insert into search_mark values (gen_random_uuid())',
  `create table feature_tally (
    archived boolean not null,
    stale boolean not null,
    project text collate "C" not null,
    type text collate "C" not null,
    features bigint not null,
    primary key (project, type, stale, archived)
  )`,
  `create function count_features() returns trigger language plpgsql as $$
  begin
    if tg_op <> 'DELETE' then
      insert into feature_tally
      select archived, stale, project, type, count(*) from added group by archived, stale, project, type
      on conflict (project, type, stale, archived) do update set features = feature_tally.features + excluded.features;
    end if;
    if tg_op <> 'INSERT' then
      update feature_tally set features = feature_tally.features - gone.features
      from (select archived, stale, project, type, count(*) as features from removed group by 1, 2, 3, 4) gone
      where (feature_tally.project, feature_tally.type, feature_tally.stale, feature_tally.archived)
        = (gone.project, gone.type, gone.stale, gone.archived);
    end if;
    update search_mark set mark = gen_random_uuid();
    return null;
  end $$`,
  `create trigger count_added after insert on feature_lookup referencing new table as added
    for each statement execute function count_features()`,
  `create trigger count_changed after update on feature_lookup referencing old table as removed new table as added
    for each statement execute function count_features()`,
  `create trigger count_removed after delete on feature_lookup referencing old table as removed
    for each statement execute function count_features()`,
];

// How alike is alike enough is a setting of the session, which is set while the function runs. A name that contains a text is
// more like it than one that does not, the more so the less there is beside it; then come tags that contain it.
const similar = ['not archived', 'archived'].map((which) => {
  const name = which === 'archived' ? 'similar_archived_features' : 'similar_features';
  return `create function ${name}(texts text[], patterns text[]) returns table (name text, relevance real)
    language sql stable set pg_trgm.word_similarity_threshold = '0.35' as $$
      select found.name, max(found.relevance)::real
      from unnest(texts, patterns) as asked (wanted, pattern) cross join lateral (
        select feature_lookup.name, case
          when split_part(search_text, E'\\x1f', 1) like pattern then 3 + length(wanted)::real / length(feature_lookup.name)
          when search_text like pattern then 2
          else word_similarity(wanted, search_text) end as relevance
        from feature_lookup
        where ${which} and (search_text like pattern or search_text %> wanted)
      ) as found
      group by found.name
    $$`;
});

/** What search keeps. A document without a value is one of a feature that is gone: its version stays known. */
const searchTables: SchemaStep = {
  name: '2026-11-21-search',
  statements: [
    'create extension if not exists pg_trgm',
    `create table feature_document (
      name text collate "C" primary key,
      version bigint not null,
      document json
    )`,
    `create table segment (
      id integer primary key,
      version bigint not null,
      name text collate "C"
    )`,
    'create index on segment (name)',
    lookup,
    ...orders.map((order) => `create index on feature_lookup (archived, ${order})`),
    'create index on feature_lookup (archived, created_by_id)',
    'create index on feature_lookup (archived, created_by_name)',
    ...found,
    ...tally,
    ...similar,
  ],
};

/** All steps of the schema of search. */
export const searchSteps: readonly SchemaStep[] = [
  inboxTables,
  searchTables,
  indexFeedTables,
  reconciliationTables,
  wordTables,
  statusTables,
  foundTables,
  pageTables,
];
