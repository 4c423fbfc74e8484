import type { SchemaStep } from '@bunting/database';

// An engine beside PostgreSQL is fed from here. Whatever changes in `feature_lookup` takes a place in the feed in the same
// transaction, and transactions take their places one after the other: whoever has read up to a position has missed nothing.
const change = (which: string): string => `
  update index_feed set position = position + 1 returning position into place;
  insert into feature_change (name, position) select name, place from ${which}
  on conflict (name) do update set position = excluded.position`;

/** In which order features changed, and how far the index of another engine has followed. */
export const indexFeedTables: SchemaStep = {
  name: '2026-11-22-search-index-feed',
  statements: [
    // Positions are of one epoch. Who empties the table begins another, in which the same positions mean something else.
    'create table index_feed (epoch uuid not null, position bigint not null)',
    'insert into index_feed values (gen_random_uuid(), 1)',
    'create table feature_change (name text collate "C" primary key, position bigint not null)',
    'create index on feature_change (position, name)',
    'insert into feature_change select name, 1 from feature_lookup',
    `create function place_changes() returns trigger language plpgsql as $$
    declare place bigint;
    begin
      if tg_op = 'TRUNCATE' then
        update index_feed set epoch = gen_random_uuid(), position = 1;
        truncate feature_change;
      elsif tg_op = 'DELETE' then ${change('removed')};
      else ${change('added')};
      end if;
      return null;
    end $$`,
    `create trigger place_added after insert on feature_lookup referencing new table as added
      for each statement execute function place_changes()`,
    `create trigger place_changed after update on feature_lookup referencing new table as added
      for each statement execute function place_changes()`,
    `create trigger place_removed after delete on feature_lookup referencing old table as removed
      for each statement execute function place_changes()`,
    `create trigger place_all after truncate on feature_lookup for each statement execute function place_changes()`,
    // One row for each index. What it says holds while nobody is changing the index and there is no trouble with it.
    `create table search_index (
      uid text primary key,
      keeper bigint not null default 0,
      epoch uuid,
      generation uuid,
      indexed bigint not null default 0,
      tasks bigint[] not null default '{}',
      changing boolean not null default false,
      settings text,
      trouble text,
      built_at timestamptz
    )`,
  ],
};
