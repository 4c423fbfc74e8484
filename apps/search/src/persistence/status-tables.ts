import type { SchemaStep } from '@bunting/database';

const statusesOf = (which: string): string =>
  `select archived, status, created_at, name from ${which} cross join unnest(statuses) as status`;

/** Counts what came and what went by its status. */
const count = (changes: string): string => `
  insert into status_tally
  select archived, status, sum(more) from (${changes}) as changed (archived, status, more)
  group by archived, status having sum(more) <> 0 order by archived, status
  on conflict (archived, status) do update set features = status_tally.features + excluded.features`;

const gone = (what: string): string => `gone as (
  delete from feature_status using (${what}) as was
  where (feature_status.archived, feature_status.status, feature_status.created_at, feature_status.name)
    = (was.archived, was.status, was.created_at, was.name)
  returning feature_status.archived, feature_status.status
)`;
const come = (what: string): string => `come as (
  insert into feature_status ${what} returning archived, status
)`;

/**
 * For each state of each environment the features that are in it, in the order of their creation, and how many these are. Who
 * sorts by an environment reads one of these lists after the other, and goes to a place far down without passing all before it.
 */
export const statusTables: SchemaStep = {
  name: '2026-11-22-search-statuses',
  statements: [
    'set local statement_timeout = 0',
    `create table feature_status (
      archived boolean not null,
      status text collate "C" not null,
      created_at timestamptz not null,
      name text collate "C" not null,
      primary key (archived, status, created_at, name)
    ) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02)`,
    `create table status_tally (
      archived boolean not null,
      status text collate "C" not null,
      features bigint not null,
      primary key (archived, status)
    )`,
    `insert into feature_status select distinct * from (${statusesOf('feature_lookup')}) as known`,
    'insert into status_tally select archived, status, count(*) from feature_status group by archived, status',
    `create function keep_statuses() returns trigger language plpgsql as $$
    begin
      if tg_op = 'TRUNCATE' then
        truncate feature_status, status_tally;
      elsif tg_op = 'INSERT' then
        with ${come(`select distinct * from (${statusesOf('added')}) as is_now`)}
        ${count('select archived, status, 1 from come')};
      elsif tg_op = 'UPDATE' then
        with ${gone(`${statusesOf('removed')} except ${statusesOf('added')}`)},
          ${come(`${statusesOf('added')} except ${statusesOf('removed')}`)}
        ${count('select archived, status, 1 from come union all select archived, status, -1 from gone')};
      else
        with ${gone(`select distinct * from (${statusesOf('removed')}) as was`)}
        ${count('select archived, status, -1 from gone')};
      end if;
      return null;
    end $$`,
    `create trigger statuses_added after insert on feature_lookup referencing new table as added
      for each statement execute function keep_statuses()`,
    `create trigger statuses_changed after update on feature_lookup referencing old table as removed new table as added
      for each statement execute function keep_statuses()`,
    `create trigger statuses_removed after delete on feature_lookup referencing old table as removed
      for each statement execute function keep_statuses()`,
    'create trigger statuses_all after truncate on feature_lookup for each statement execute function keep_statuses()',
  ],
};
