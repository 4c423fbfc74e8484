import type { SchemaStep } from '@bunting/database';

/**
 * A private project that was deleted keeps its row, with the moment of its deletion: its events and applications stay hidden from everybody
 * but administrators. Versions below zero are rows that were never told of, which the features service asked to hide beforehand.
 */
export const deletedProjects: SchemaStep = {
  name: '2026-11-30-deleted-projects',
  statements: [
    'alter table project add column deleted_at timestamptz, add column hiding_version bigint, add column hiding_since timestamptz',
    'drop index project_closed',
    "create index project_closed on project (id) where mode <> 'open' or hiding_version is not null",
  ],
};
