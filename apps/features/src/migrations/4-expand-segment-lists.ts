import type { SchemaMigration } from '@bunting/database';

/**
 * The lists of segments, in blocks that are stored under their hashes (docs/adr/0046). The triggers are there for replicas of the version
 * before as well, which know nothing of lists: what they deliver of a segment matches nobody without its list, and what they delete
 * releases its blocks.
 */
export const segmentLists: SchemaMigration = {
  name: '4-expand-segment-lists',
  statements: [
    // What is stored is compressed or a hash: PostgreSQL need not try again.
    `create table segment_block (
    hash bytea primary key,
    content bytea storage external not null,
    released_at timestamptz default now()
  )`,
    'create index segment_block_by_release on segment_block (released_at) where released_at is not null',
    `create table segment_list (
    segment integer primary key references segment on delete cascade,
    context_name text not null,
    size integer not null,
    bytes integer not null,
    version integer not null,
    root bytea not null
  )`,
    `create table segment_list_piece (
    upload text not null,
    piece integer not null,
    segment integer not null,
    ids bytea storage external not null,
    created_at timestamptz not null default now(),
    primary key (upload, piece)
  )`,
    'create index segment_list_piece_by_time on segment_list_piece (created_at)',
    `create function blocks_of_list(list_root bytea) returns setof bytea language sql stable as $$
      select list_root
      union all
      select substr(content, 1 + 32 * nth, 32)
      from segment_block, generate_series(0, octet_length(content) / 32 - 1) as nth where hash = list_root
    $$`,
    `create function release_blocks_of_list() returns trigger language plpgsql as $$
      begin
        update segment_block set released_at = now() where hash in (
          select blocks_of_list(old.root)
          except select blocks_of_list(new.root) where tg_op = 'UPDATE');
        return null;
      end $$`,
    `create trigger segment_list_release after update or delete on segment_list
    for each row execute function release_blocks_of_list()`,
    `create function deliver_list_of_segment() returns trigger language plpgsql as $$
      declare
        list segment_list;
        state jsonb := new.payload -> 'state';
      begin
        select * into list from segment_list where segment = (new.payload ->> 'id')::integer;
        if not found or jsonb_typeof(state) <> 'object' then
          return new;
        end if;
        new.payload := json_build_object('entity', 'segment', 'id', new.payload -> 'id', 'state', state || jsonb_build_object(
          'constraints', (state -> 'constraints') || jsonb_build_object(
            'contextName', list.context_name, 'operator', 'IN', 'values', '[]'::jsonb, 'inverted', false, 'caseInsensitive', false),
          'list', jsonb_build_object('contextName', list.context_name, 'size', list.size, 'version', list.version,
            'root', encode(list.root, 'hex'))));
        return new;
      end $$`,
    `create trigger outbox_list_of_segment before insert on outbox
    for each row when (new.topic = 'delivery' and new.type = 'segment') execute function deliver_list_of_segment()`,
  ],
};
