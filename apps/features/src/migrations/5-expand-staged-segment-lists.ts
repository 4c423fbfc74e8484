import type { SchemaMigration } from '@bunting/database';

/** Lists that change requests put in the place of others. What is deleted here releases its blocks, as a list does. */
export const stagedSegmentLists: SchemaMigration = {
  name: '5-expand-staged-segment-lists',
  statements: [
    `create table staged_segment_list (
    segment integer not null references segment on delete cascade,
    root bytea not null,
    context_name text not null,
    size integer not null,
    bytes integer not null,
    added integer not null,
    removed integer not null,
    replaced jsonb,
    kept_until timestamptz not null,
    primary key (segment, root, context_name)
  )`,
    `create trigger staged_segment_list_release after delete on staged_segment_list
    for each row execute function release_blocks_of_list()`,
  ],
};
