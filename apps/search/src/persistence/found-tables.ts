import type { SchemaStep } from '@bunting/database';

const known = (insert: string): string => `
  with known as (${insert} returning xmax = 0 as is_new)
  update search_mark set vocabulary = vocabulary + 1 where exists (select from known where is_new)`;
const daysOf = (which: string, more: string): string =>
  `select archived, (created_at at time zone 'UTC')::date, ${more} from ${which}`;
const countDays = (changes: string): string => `
  insert into day_tally
  select archived, day, sum(more) from (${changes}) as changed (archived, day, more)
  group by archived, day having sum(more) <> 0 order by archived, day
  on conflict (archived, day) do update set features = day_tally.features + excluded.features`;

/**
 * Words take the place of trigrams in the index of all that has many values: features are few beside the trigrams of their
 * names, and what a text can be part of is first looked up among the words. `search_mark.vocabulary` tells whether any word
 * has come since. And how many features were created on which day is counted when they come, not when they are asked for.
 */
export const foundTables: SchemaStep = {
  name: '2026-11-23-search-found-by-words',
  statements: [
    'set local statement_timeout = 0',
    `do $$ declare former text; begin
      for former in select indexrelid::regclass from pg_index join pg_class on pg_class.oid = indexrelid
        join pg_am on pg_am.oid = relam where indrelid = 'feature_lookup'::regclass and amname = 'gin'
      loop execute 'drop index ' || former; end loop;
    end $$`,
    ...['not archived', 'archived'].flatMap((which) => [
      `create index on feature_lookup using gin (tags, segment_ids, statuses, favorited_by, words)
        with (fastupdate = off) where ${which}`,
      `create index on feature_lookup using gin (search_text gin_trgm_ops) with (fastupdate = off) where ${which}`,
    ]),
    'alter table search_mark add column vocabulary bigint not null default 0',
    `create or replace function count_words() returns trigger language plpgsql as $$
    begin
      if tg_op = 'TRUNCATE' then
        truncate feature_word;
      elsif tg_op = 'INSERT' then
        ${known(`
        insert into feature_word
        select word, count(*) from added cross join unnest(words) as word group by word
        on conflict (word) do update set features = feature_word.features + excluded.features`)};
      elsif tg_op = 'UPDATE' then
        ${known(`
        insert into feature_word
        select word, sum(more) from (
          select unnest(words) as word, 1 as more from added union all select unnest(words), -1 from removed
        ) as changed group by word having sum(more) <> 0
        on conflict (word) do update set features = feature_word.features + excluded.features`)};
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
    `create table day_tally (
      archived boolean not null,
      day date not null,
      features bigint not null,
      primary key (archived, day)
    )`,
    `insert into day_tally ${daysOf('feature_lookup', 'count(*)')} group by 1, 2`,
    `create function count_days() returns trigger language plpgsql as $$
    begin
      if tg_op = 'TRUNCATE' then
        truncate day_tally;
      elsif tg_op = 'INSERT' then
        ${countDays(daysOf('added', '1'))};
      elsif tg_op = 'UPDATE' then
        ${countDays(`${daysOf('added', '1')} union all ${daysOf('removed', '-1')}`)};
      else
        ${countDays(daysOf('removed', '-1'))};
      end if;
      return null;
    end $$`,
    `create trigger days_added after insert on feature_lookup referencing new table as added
      for each statement execute function count_days()`,
    `create trigger days_changed after update on feature_lookup referencing old table as removed new table as added
      for each statement execute function count_days()`,
    `create trigger days_removed after delete on feature_lookup referencing old table as removed
      for each statement execute function count_days()`,
    'create trigger days_all after truncate on feature_lookup for each statement execute function count_days()',
  ],
};
