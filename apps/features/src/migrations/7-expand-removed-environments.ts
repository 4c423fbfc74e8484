import type { SchemaMigration } from '@bunting/database';

/**
 * The environments that projects have lost, and in which some of their features still have settings; these are removed in the background, in
 * the order of the features' names.
 */
export const removedEnvironments: SchemaMigration = {
  name: '7-expand-removed-environments',
  statements: [
    `create table removed_environment (
      project text not null references project (id) on delete cascade,
      environment text not null,
      done_up_to text not null default '',
      primary key (project, environment))`,
  ],
};
