import type { SchemaStep } from '@bunting/database';

/** The same words as `wordsOf` finds, from `search_text`: for the features that were there before their words were kept. */
export const wordsOfText = String.raw`array(
  select word from regexp_split_to_table(search_text, '[\x01-\x2f\x3a-\x40\x5b-\x60\x7b-\x7f]+') with ordinality as split (word, nth)
  where word <> '' group by word order by min(nth)
)`;

/**
 * The words of names and tags, each once, and in how many features it is. They are few beside the features: what a misspelt
 * word may stand for is looked for among them, and features by the words that it may be.
 */
export const wordTables: SchemaStep = {
  name: '2026-11-22-search-words',
  statements: [
    // However many features there are already: it is done once, before anybody searches.
    'set local statement_timeout = 0',
    // A column that is computed has the table and its indexes written in one go, many times faster than row by row.
    `create function words_of_text(search_text text) returns text[] immutable language sql as $$ select ${wordsOfText} $$`,
    `alter table feature_lookup add column words text[] collate "C" not null
      generated always as (words_of_text(search_text)) stored`,
    'alter table feature_lookup alter column words drop expression',
    'drop function words_of_text(text)',
    // What is searched in takes some milliseconds to read, and to have others help with it takes longer.
    'alter table feature_lookup set (parallel_workers = 0)',
    `create index on feature_lookup using gin (words) with (fastupdate = off)`,
    `create table feature_word (word text collate "C" primary key, features bigint not null)`,
    `insert into feature_word select word, count(*) from feature_lookup cross join unnest(words) as word group by word`,
    `create index on feature_word using gin (word gin_trgm_ops) with (fastupdate = off)`,
    `create function count_words() returns trigger language plpgsql as $$
    begin
      if tg_op = 'TRUNCATE' then
        truncate feature_word;
      elsif tg_op = 'INSERT' then
        insert into feature_word
        select word, count(*) from added cross join unnest(words) as word group by word
        on conflict (word) do update set features = feature_word.features + excluded.features;
      elsif tg_op = 'UPDATE' then
        insert into feature_word
        select word, sum(more) from (
          select unnest(words) as word, 1 as more from added union all select unnest(words), -1 from removed
        ) as changed group by word having sum(more) <> 0
        on conflict (word) do update set features = feature_word.features + excluded.features;
        delete from feature_word where features <= 0 and word in (
          select unnest(words) from removed except select unnest(words) from added);
      else
        update feature_word set features = feature_word.features - gone.features
        from (select word, count(*) as features from removed cross join unnest(words) as word group by word) as gone
        where feature_word.word = gone.word;
        delete from feature_word where features <= 0 and word in (select unnest(words) from removed);
      end if;
      return null;
    end $$`,
    `create trigger words_added after insert on feature_lookup referencing new table as added
      for each statement execute function count_words()`,
    `create trigger words_changed after update on feature_lookup referencing old table as removed new table as added
      for each statement execute function count_words()`,
    `create trigger words_removed after delete on feature_lookup referencing old table as removed
      for each statement execute function count_words()`,
    'create trigger words_all after truncate on feature_lookup for each statement execute function count_words()',
    'drop function similar_features(text[], text[])',
    'drop function similar_archived_features(text[], text[])',
  ],
};
