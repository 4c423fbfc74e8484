import type { SchemaStep } from '@bunting/database';

/** The ids of private projects that were deleted: their history still belongs to the id, so only administrators may take it again. */
export const deletedProjects: SchemaStep = {
  name: '2026-11-30-deleted-projects',
  statements: [
    `create table deleted_private_project (
      id text primary key,
      deleted_at timestamptz not null default now()
    )`,
  ],
};
