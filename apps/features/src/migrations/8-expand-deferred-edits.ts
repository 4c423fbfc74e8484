import type { SchemaMigration } from '@bunting/database';

/** Edits of so many features that a write has made some of them, and left the others to the background. */
export const deferredEdits: SchemaMigration = {
  name: '8-expand-deferred-edits',
  statements: [
    `create table deferred_edit (
      id bigint generated always as identity primary key,
      kind text not null,
      subject text not null,
      details json not null,
      caller json not null,
      begun_at timestamptz not null default now(),
      done_up_to text not null default '',
      unique (kind, subject))`,
  ],
};
