import type { SchemaMigration } from '@bunting/database';
import { consumerTables } from '@bunting/outbox';

const vacuumOften = `autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02,
  autovacuum_analyze_scale_factor = 0.02`;

/**
 * What search stores. Documents are in another table than the columns by which features are found: counting matches reads a fifth of the
 * pages, and a change of a document alone changes no index.
 */
const searchTables: SchemaMigration = {
  name: '2-search',
  statements: [
    'create extension if not exists pg_trgm',
    // A document without a value is a tombstone: its version keeps a late state from restoring the feature.
    `create table feature_document (
      name text collate "C" primary key,
      version bigint not null,
      document json
    ) with (fillfactor = 80, ${vacuumOften})`,
    // Few searches read descriptions, which are longer than all other columns by which features are found.
    `create table feature_description (
      name text collate "C" primary key,
      description text collate "C" not null
    ) with (${vacuumOften})`,
    'create index on feature_description using gin (description gin_trgm_ops) with (gin_pending_list_limit = 512)',
    'create table segment (id integer primary key, version bigint not null, name text collate "C")',
    'create index on segment (name)',
    // Without parallel workers, so that the parts of a UNION ALL come in the order in which they are written. The text that a search may
    // read of every row comes before the other columns of variable length, because PostgreSQL has to skip those before it one by one.
    `create table feature_lookup (
      created_at timestamptz not null,
      last_seen_at timestamptz,
      created_by_id bigint not null,
      archived boolean not null,
      stale boolean not null,
      name text collate "C" primary key,
      search_text text collate "C" not null,
      project text collate "C" not null,
      type text collate "C" not null,
      created_by_name text collate "C" not null,
      segment_ids integer[] not null,
      favorited_by integer[] not null,
      statuses text[] collate "C" not null,
      tags text[] collate "C" not null
    ) with (parallel_workers = 0, ${vacuumOften})`,
    // Counts by these columns, and sorting by them, read this index alone.
    'create index on feature_lookup (archived, created_at, name) include (project, type, stale)',
    'create index on feature_lookup (archived, name)',
    'create index on feature_lookup (archived, project, created_at, name)',
    'create index on feature_lookup (archived, type, created_at, name)',
    'create index on feature_lookup (archived, last_seen_at, created_at, name)',
    'create index on feature_lookup (created_by_id)',
    'create index on feature_lookup (created_by_name)',
    // New entries are inserted in batches, which takes a quarter of the time; every search reads the few pending ones.
    'create index on feature_lookup using gin (tags, segment_ids, statuses, favorited_by) with (gin_pending_list_limit = 512)',
    'create index on feature_lookup using gin (search_text gin_trgm_ops) with (gin_pending_list_limit = 512)',
    // Names that contain a text come first, then tags that do, then names by similarity. It is a function because the threshold
    // of similarity is a setting, which holds while the function runs.
    `create function fuzzy_matches(texts text[], patterns text[]) returns table (name text, relevance float8)
      language sql stable set pg_trgm.word_similarity_threshold = '0.35' as $$
        select found.name, max(found.relevance)
        from unnest(texts, patterns) as wanted (text, pattern) cross join lateral (
          select feature_lookup.name, case
            when folded like pattern then 3 + length(wanted.text)::float8 / length(feature_lookup.name)
            when search_text like pattern then 2
            else word_similarity(wanted.text, folded) end as relevance
          from feature_lookup cross join split_part(search_text, E'\\x1f', 1) as folded
          where search_text like pattern or search_text %> wanted.text
        ) as found
        group by found.name
      $$`,
    // The features that an index of texts has to write again, deleted ones included, by the transaction that changed them.
    'create table feature_change (name text collate "C" primary key, changed xid8 not null)',
    'create index on feature_change (changed, name)',
    'create table search_index (uid text primary key, generation uuid, checkpoint_xid xid8, rebuild_reason text)',
    'create table reconciliation (claimed_at timestamptz not null, compared_up_to text collate "C" not null)',
    `insert into reconciliation values ('-infinity', '')`,
    `create table reindex (
      state text not null check (state in ('running', 'done', 'failed')),
      done bigint not null,
      "all" bigint not null,
      started_at timestamptz not null,
      heartbeat_at timestamptz not null,
      finished_at timestamptz,
      reason text
    )`,
  ],
};

/**
 * Fuzzy searches compare words. `search_words` splits as `splitWords` of src/search/words.ts does; it is a function over what a row has, so
 * that rows which a process of an earlier version writes have their words as well.
 */
const words: SchemaMigration = {
  name: '3-expand-words',
  statements: [
    // Names are ASCII. The folded tags, which may not be, follow the folded name in search_text.
    `create function search_words(name text, search_text text) returns text[]
      language sql immutable strict parallel safe cost 1000 as $$
        select array_remove(regexp_split_to_array(
          lower(regexp_replace(regexp_replace(name, '([A-Z])([A-Z][a-z])', '\\1 \\2', 'g'), '([a-z0-9])([A-Z])', '\\1 \\2', 'g'))
            || substr(search_text, length(name) + 1),
          '[\\u0001-\\u002f\\u003a-\\u0040\\u005b-\\u0060\\u007b-\\u007f]+'), '')
      $$`,
    // Every word of a name or a tag; those of deleted features stay, and find nothing.
    'create table search_word (word text collate "C" primary key)',
    'create index on search_word using gin (word gin_trgm_ops)',
    // The threshold of similarity is a setting, which holds while a function runs.
    `create function similar_words(typed text) returns table (word text)
      language sql stable set pg_trgm.similarity_threshold = '0.18' as $$
        select search_word.word from search_word where search_word.word % typed
        order by similarity(search_word.word, typed) desc limit 60
      $$`,
    `-- allow data-rewrite: it reads feature_lookup, and fills a table that no process uses yet
    insert into search_word select distinct unnest(search_words(name, search_text)) from feature_lookup`,
  ],
};

/** The indexes by words, and by the beginning of a name. */
const wordIndexes: SchemaMigration = {
  name: '4-expand-word-indexes',
  concurrently: true,
  statements: [
    'drop index concurrently if exists feature_lookup_words',
    `create index concurrently feature_lookup_words on feature_lookup using gin (search_words(name, search_text))
      with (gin_pending_list_limit = 512)`,
    'drop index concurrently if exists feature_lookup_folded_name',
    // With the columns of a suggestion, so that the features of one project are found without reading all rows of the others.
    `create index concurrently feature_lookup_folded_name on feature_lookup (archived, lower(name))
      include (name, project, type, stale)`,
  ],
};

const indexLag: SchemaMigration = {
  name: '5-expand-index-lag',
  statements: ['alter table search_index add column saved_at timestamptz not null default now()'],
};

/**
 * Totals of searches are counted once for each version of `feature_lookup`. A trigger numbers the versions, so that no writer can forget to,
 * not even a process of the version before.
 */
const lookupVersion: SchemaMigration = {
  name: '6-expand-lookup-version',
  statements: [
    'create table lookup_version (version bigint not null) with (fillfactor = 10)',
    'insert into lookup_version values (1)',
    `create function count_lookup_version() returns trigger language plpgsql as $$
      begin
        update lookup_version set version = version + 1;
        return null;
      end
    $$`,
    `create trigger count_lookup_version after insert or update or delete or truncate on feature_lookup
      for each statement execute function count_lookup_version()`,
  ],
};

/**
 * The format of the stored documents. It is raised when documents of the version before lack what searches return: they are written anew in
 * the background.
 */
const documentFormat: SchemaMigration = {
  name: '7-expand-document-format',
  statements: ['alter table reconciliation add column document_format integer not null default 1'],
};

/** The complete schema of search. */
export const searchMigrations: readonly SchemaMigration[] = [
  consumerTables,
  searchTables,
  words,
  wordIndexes,
  indexLag,
  lookupVersion,
  documentFormat,
];
